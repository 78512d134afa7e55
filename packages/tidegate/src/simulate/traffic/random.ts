/** Chance that repeats: the same seed and name give the same sequence, on every machine. */
export interface Random {
  /** From 0, below 1. */
  next(): number;
  between(low: number, high: number): number;
  /** Both ends included. */
  whole(low: number, high: number): number;
  chance(share: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** The wait for something that comes by chance, `mean` on average. */
  wait(mean: number): number;
}

/** Each name has a sequence of its own, so one more client changes nothing for the others. Xoshiro128**. */
export function seededRandom(seed: number, name: string): Random {
  let state = hashed(seed, name);
  const word = () => {
    // A small generator of its own fills the four words.
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  let a = word();
  let b = word();
  let c = word();
  let d = word() | 1;

  const next = () => {
    const result = Math.imul(turned(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = turned(d, 11);
    return result / 0x1_0000_0000;
  };
  const whole = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    whole,
    between: (low, high) => low + next() * (high - low),
    chance: (share) => next() < share,
    pick: <T>(list: readonly T[]) => list[whole(0, list.length - 1)] as T,
    wait: (mean) => -Math.log(1 - next()) * mean,
  };
}

function turned(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function hashed(seed: number, name: string): number {
  let hash = 0x811c9dc5 ^ (seed | 0);
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return hash;
}
