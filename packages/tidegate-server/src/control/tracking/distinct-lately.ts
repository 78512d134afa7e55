/** How many different texts came lately, within a few per cent, in a fixed amount of memory. */
export interface DistinctLately {
  add(text: string): void;
  /** Where a text falls, for whoever adds it often. */
  placeOf(text: string): number;
  addAt(place: number): void;
  /** As of about the last minute. */
  count(): number;
}

export interface DistinctLatelyOptions {
  /** A power of two; good for several times as many texts. Default 2^18, 32 KiB a slice. */
  readonly bits?: number;
  readonly now?: () => number;
}

/** The last minute is this many slices, the newest of them not yet over. */
const slices = 3;
const sliceMs = 20_000;
/** Counting takes some ten microseconds, so it is not done for each of many who ask at once. */
const recountMs = 100;

/** Linear counting: of the bits that texts fall on at random, those never hit tell how many there were. */
export function distinctLately(options: DistinctLatelyOptions = {}): DistinctLately {
  const { bits = 1 << 18, now = Date.now } = options;
  const words = Array.from({ length: slices }, () => new Uint32Array(bits >>> 5));
  /** Nobody can choose texts that fall together. */
  const seed = (Math.random() * 2 ** 32) >>> 0;
  let newest = words[0] as Uint32Array;
  let at = 0;
  let sliceEnds = now() + sliceMs;
  let counted = 0;
  let countedAt = Number.NEGATIVE_INFINITY;

  function turn(time: number): void {
    // After a long silence, and when the clock was set back, all begin anew.
    const over = time < sliceEnds - sliceMs ? slices : Math.ceil((time - sliceEnds + 1) / sliceMs);
    for (let i = 0; i < Math.min(over, slices); i++) {
      at = (at + 1) % slices;
      newest = words[at] as Uint32Array;
      newest.fill(0);
    }
    sliceEnds = over >= slices ? time + sliceMs : sliceEnds + over * sliceMs;
  }

  function turnInTime(time: number): void {
    if (time >= sliceEnds || time < sliceEnds - sliceMs) turn(time);
  }

  function countNow(): number {
    const [a, b, c] = words as [Uint32Array, Uint32Array, Uint32Array];
    let hit = 0;
    for (let i = 0; i < a.length; i++) hit += onesIn((a[i] as number) | (b[i] as number) | (c[i] as number));
    return Math.round(bits * Math.log(bits / Math.max(1, bits - hit)));
  }

  function placeOf(text: string): number {
    return hash(text, seed) & (bits - 1);
  }

  function addAt(place: number): void {
    turnInTime(now());
    newest[place >>> 5] = (newest[place >>> 5] as number) | (1 << (place & 31));
  }

  return {
    add: (text) => addAt(placeOf(text)),
    placeOf,
    addAt,
    count() {
      const time = now();
      turnInTime(time);
      if (time - countedAt >= recountMs || time < countedAt) {
        counted = countNow();
        countedAt = time;
      }
      return counted;
    },
  };
}

/** FNV-1a, mixed once more at the end. */
function hash(text: string, seed: number): number {
  let sum = seed ^ 0x811c9dc5;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b);
  sum = Math.imul(sum ^ (sum >>> 13), 0xc2b2ae35);
  return (sum ^ (sum >>> 16)) >>> 0;
}

function onesIn(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
