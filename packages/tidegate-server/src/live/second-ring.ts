export interface SecondRingOptions {
  /** Numbers under each name. */
  readonly width: number;
  /** The newest so many are kept. */
  readonly seconds: number;
  /** Names; further ones are kept only once there is room. */
  readonly most: number;
}

/** Whole numbers by the second, under names, in bounded memory. */
export interface SecondRing {
  /** The newest that was begun; undefined: none yet. */
  readonly newest: number | undefined;
  /** What is added from now on is of this second, counted since the epoch. What is too old now is gone. */
  begin(second: number): void;
  add(name: string, numbers: readonly number[]): void;
  has(name: string): boolean;
  names(): Iterable<string>;
  /** One row of each of its numbers, from this second on; 0 where nothing is known. */
  rows(name: string, from: number, count: number): number[][];
  forget(name: string): void;
}

/** A clock set back by less is waited for. */
const patienceSeconds = 5;

const pruneSeconds = 60;

export function secondRing({ width, seconds, most }: SecondRingOptions): SecondRing {
  const cells = new Map<string, Uint32Array>();
  let newest: number | undefined;
  let mayPruneAt = 0;

  function placeOf(second: number): number {
    return (second % seconds) * width;
  }

  /** Names of which nothing is left make room; to look for them takes a while. */
  function prune(second: number): void {
    if (second < mayPruneAt && second > mayPruneAt - pruneSeconds) return;
    mayPruneAt = second + pruneSeconds;
    for (const [name, numbers] of cells) if (numbers.every((number) => number === 0)) cells.delete(name);
  }

  function roomFor(name: string, second: number): Uint32Array | undefined {
    if (cells.size >= most) prune(second);
    if (cells.size >= most) return undefined;
    const numbers = new Uint32Array(seconds * width);
    cells.set(name, numbers);
    return numbers;
  }

  return {
    get newest() {
      return newest;
    },
    begin(second) {
      if (newest !== undefined && second <= newest && second >= newest - patienceSeconds) return;
      const first = newest === undefined || second < newest ? second - seconds : newest;
      for (let each = Math.max(first + 1, second - seconds + 1); each <= second; each++) {
        const place = placeOf(each);
        for (const numbers of cells.values()) numbers.fill(0, place, place + width);
      }
      newest = second;
    },
    add(name, added) {
      if (newest === undefined || added.every((number) => number === 0)) return;
      const numbers = cells.get(name) ?? roomFor(name, newest);
      const place = placeOf(newest);
      for (let i = 0; numbers !== undefined && i < width; i++)
        numbers[place + i] = (numbers[place + i] as number) + (added[i] as number);
    },
    has: (name) => cells.has(name),
    names: () => cells.keys(),
    rows(name, from, count) {
      const numbers = cells.get(name);
      return Array.from({ length: width }, (_, row) =>
        Array.from({ length: count }, (_, i) => {
          const second = from + i;
          const isKnown = newest !== undefined && second <= newest && second > newest - seconds;
          return isKnown ? (numbers?.[placeOf(second) + row] ?? 0) : 0;
        }),
      );
    },
    forget: (name) => void cells.delete(name),
  };
}
