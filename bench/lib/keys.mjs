// Client keys: 16 hex characters, unique, spread like hashes, and always flat strings of their own
// (as a key cut out of a request is), never ropes or shared instances.

const HEX = Buffer.from("0123456789abcdef", "latin1");
const scratch = Buffer.alloc(16);

/** The i-th key. The first half is a bijection of i, so no two keys are equal below 2^32. */
export function keyOf(i) {
  let a = Math.imul(i ^ (i >>> 16), 0x7feb352d);
  a = Math.imul(a ^ (a >>> 15), 0x846ca68b);
  a = (a ^ (a >>> 16)) >>> 0;
  let b = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b);
  b = (b ^ (b >>> 13)) >>> 0;
  for (let j = 0; j < 8; j++) {
    scratch[j] = HEX[(a >>> (j * 4)) & 15];
    scratch[8 + j] = HEX[(b >>> (j * 4)) & 15];
  }
  return scratch.latin1Slice(0, 16);
}

export function makeKeys(count) {
  const keys = new Array(count);
  for (let i = 0; i < count; i++) keys[i] = keyOf(i);
  return keys;
}

/** A fixed pseudo-random walk over [0, count): the same one for every contestant. */
export function randomWalk(count, length) {
  const walk = new Uint32Array(length);
  let x = 0x2545f491;
  for (let i = 0; i < length; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    walk[i] = (x >>> 0) % count;
  }
  return walk;
}
