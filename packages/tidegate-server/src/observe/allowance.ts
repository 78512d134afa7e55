/** Lets so many through in a time, and tells at its end how many more there were, by kind. */
export interface Allowance {
  /** False: it is only counted. */
  take(kind: string): boolean;
  /** Tells of what has been counted so far, and ends. */
  close(): void;
}

export interface AllowanceOptions {
  readonly most: number;
  readonly everyMs: number;
  /** Told once per time in which more came. */
  readonly onMore: (count: number, byKind: Readonly<Record<string, number>>) => void;
}

/** Kinds beyond these are told as one. */
const mostKinds = 20;

export function allowance({ most, everyMs, onMore }: AllowanceOptions): Allowance {
  let taken = 0;
  let more = 0;
  let byKind = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  function end(): void {
    clearTimeout(timer);
    timer = undefined;
    const [count, kinds] = [more, byKind];
    taken = 0;
    more = 0;
    byKind = new Map();
    if (count > 0) onMore(count, Object.fromEntries(kinds));
  }

  return {
    take(kind) {
      timer ??= setTimeout(end, everyMs).unref();
      if (taken < most) {
        taken++;
        return true;
      }
      more++;
      const name = byKind.has(kind) || byKind.size < mostKinds ? kind : "others";
      byKind.set(name, (byKind.get(name) ?? 0) + 1);
      return false;
    },
    close: end,
  };
}
