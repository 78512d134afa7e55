import { TidegateError } from "tidegate";

/** What was found, and why that could not be looked at again just now, if it could not. */
export interface Known<T> {
  readonly value: T;
  readonly outage?: TidegateError;
}

/**
 * Remembers for less than a second what was found, so that what others change holds within one. While the data is out of
 * reach it knows for a quarter of an hour what it last found, and says so.
 */
export interface ShortMemory<T> {
  /** Throws what kept it from looking, when it knows nothing. */
  get(key: string): Promise<Known<T> | undefined>;
  /** Was found before, or is looked for now. */
  has(key: string): boolean;
  /** Whatever is asked next is looked for. */
  forget(): void;
}

interface Entry<T> {
  readonly lookedAt: number;
  readonly found: Promise<Known<T> | undefined>;
  /** When it was last there, and what it was. */
  last?: { readonly at: number; readonly value: T } | undefined;
}

const freshMs = 900;
const staleMs = 900_000;
const most = 1_000;

export function shortMemory<T>(look: (key: string) => Promise<T | undefined>): ShortMemory<T> {
  const entries = new Map<string, Entry<T>>();

  function keep(key: string, last: Entry<T>["last"]): Entry<T> {
    const lookedAt = performance.now();
    const entry: Entry<T> = { lookedAt, last, found: find(key).catch((error) => known(error)) };
    function known(error: unknown): Known<T> {
      const isRecent = entry.last !== undefined && performance.now() - entry.last.at < staleMs;
      if (!isOutage(error) || entry.last === undefined || !isRecent) {
        drop();
        throw error;
      }
      return { value: entry.last.value, outage: error };
    }
    async function find(key: string): Promise<Known<T> | undefined> {
      const value = await look(key);
      if (value === undefined) drop();
      else entry.last = { at: lookedAt, value };
      return value === undefined ? undefined : { value };
    }
    function drop(): void {
      if (entries.get(key) === entry) entries.delete(key);
    }
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > most) entries.delete(entries.keys().next().value as string);
    return entry;
  }

  return {
    get(key) {
      const entry = entries.get(key);
      const isFresh = entry !== undefined && performance.now() - entry.lookedAt < freshMs;
      return (isFresh ? entry : keep(key, entry?.last)).found;
    },
    has: (key) => entries.has(key),
    forget: () => entries.clear(),
  };
}

/** The data could not be asked; nothing is wrong with the question. */
export function isOutage(error: unknown): error is TidegateError {
  return error instanceof TidegateError && error.code.split("_")[1] === "DATA";
}
