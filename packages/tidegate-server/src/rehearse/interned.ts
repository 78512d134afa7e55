/** Answers what `make` made of a part of a text, whose bytes are `view`'s; the same object for equal parts as long as they are remembered. */
export type Interned = (text: string, view: DataView, from: number, to: number) => string;

export interface InternedOptions {
  /** How many are remembered: a power of two. One may push out another. */
  readonly slots: number;
  /** Longer ones are made anew each time. A multiple of four. */
  readonly longest: number;
  readonly make?: (raw: string) => string;
}

/**
 * A log says the same things over and over, and to look at bytes is cheaper than to make a string of them. What is
 * answered stands by itself: a part of a text would keep all of it in memory.
 */
export function interned({ slots, longest, make = (raw) => raw }: InternedOptions): Interned {
  const made: string[] = new Array(slots).fill("");
  const lengths = new Int32Array(slots).fill(-1);
  const known = new DataView(new ArrayBuffer(slots * longest));
  const seed = (Math.random() * 0x7fffffff) | 0;

  return (text, view, from, to) => {
    const length = to - from;
    if (length > longest) return make(standalone(text.substring(from, to)));
    const slot = hashOf(view, from, to, seed) & (slots - 1);
    const at = slot * longest;
    if (lengths[slot] === length && isSame(view, from, to, known, at)) return made[slot] as string;
    const answer = make(standalone(text.substring(from, to)));
    for (let i = 0; i < length; i++) known.setUint8(at + i, view.getUint8(from + i));
    lengths[slot] = length;
    made[slot] = answer;
    return answer;
  };
}

function hashOf(view: DataView, from: number, to: number, seed: number): number {
  let hash = seed;
  let at = from;
  for (; at + 4 <= to; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; at < to; at++) {
    hash = Math.imul(hash ^ view.getUint8(at), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

function isSame(view: DataView, from: number, to: number, known: DataView, knownAt: number): boolean {
  const shift = knownAt - from;
  let at = from;
  for (; at + 4 <= to; at += 4)
    if (view.getInt32(at, true) !== known.getInt32(at + shift, true)) return false;
  for (; at < to; at++) if (view.getUint8(at) !== known.getUint8(at + shift)) return false;
  return true;
}

/** A copy that refers to no larger text. Characters are bytes. */
export function standalone(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}
