/** The scripts as they were printed, byte for byte, to be run beside ours. Their faults are known and not repeated. */

/** Five per minute from the first hit. Refused hits are counted. */
export const printedFixedWindow = `if redis.call('EXISTS', KEYS[1]) == 0 
	then 
		redis.call('SETEX', KEYS[1], 60, 0) 
	end
	redis.call('INCR', KEYS[1])
	if tonumber(redis.call('GET', KEYS[1])) <= 5
	then return 'pass'
	else return 'exceeded limit'
	end`;

/** Five in any minute, newest first. Without expiry; ARGV[1] is the caller's clock. */
export const printedList = `local count = tonumber(redis.call('LLEN', KEYS[1]))
	if count < 5 
	then	
		redis.call('LPUSH', KEYS[1], ARGV[1]) 
		return 'pass'
	else
		local time = tonumber(redis.call('LINDEX', KEYS[1], -1))
		if ARGV[1] - time <= 60 * 1000 
		then 
			return 'exceeded limit'
		else 
			redis.call('LPUSH', KEYS[1], ARGV[1])
			redis.call('RPOP', KEYS[1])
			return 'pass'
		end	
	end`;

/** Five in any minute. Score and member are the same, so hits of one millisecond are one. */
export const printedSortedSet = `redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, ARGV[1] - 60 * 1000) 
	if tonumber(redis.call('ZCARD', KEYS[1])) < 5
	then	
		redis.call('ZADD', KEYS[1], ARGV[1], ARGV[1])
		return 'pass'
	else
		return 'exceeded limit'
	end`;

/** EARRRL with a half-life of 10 s and a limit of 0.5 per second. Its keys are not declared. */
export { earrrlScript as printedEarrrl } from "tidegate/presets";

/** Requests #0 to #11 as printed, and the microseconds at which they must have come. */
export const printedTable: readonly (readonly [micros: number, estimate: number])[] = [
  [0, 0],
  [1_010_561, 0.064625593423117],
  [2_026_148, 0.12483578218756],
  [3_042_952, 0.18093794941434],
  [4_055_923, 0.2332841604735],
  [5_068_786, 0.28208311764286],
  [6_081_680, 0.32757287863479],
  [7_094_375, 0.36998350934232],
  [8_111_156, 0.40940326068647],
  [9_123_377, 0.44628146174133],
  [10_137_396, 0.48060100760135],
  [11_150_474, 0.51262461170605],
];
