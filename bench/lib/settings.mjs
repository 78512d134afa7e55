// One place for the numbers all contestants share: a fixed window of an hour that nobody ever fills.
export const WINDOW_MS = 3_600_000;
export const LIMIT = 1_000_000_000;

// The three limits of one rule.
export const THREE = [
  { limit: 100_000, windowMs: 60_000, text: "100000 per minute" },
  { limit: 1_000_000, windowMs: 3_600_000, text: "1000000 per hour" },
  { limit: 10_000_000, windowMs: 86_400_000, text: "10000000 per day" },
];

// What every app answers. The load tells by the last character that an answer is whole.
export const BODY = "hello~";
