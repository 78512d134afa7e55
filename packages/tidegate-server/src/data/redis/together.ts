export interface TogetherOptions<T, R> {
  /** Answers of each, in their order. */
  readonly act: (items: readonly T[]) => Promise<readonly R[]>;
  readonly most: number;
}

/** Those asked for in one turn of the event loop are asked for in one call, of at most so many; they fail together too. */
export function together<T, R>({ act, most }: TogetherOptions<T, R>): (item: T) => Promise<R> {
  let waiting: Waiting<T, R>[] = [];

  function send(): void {
    const all = waiting;
    waiting = [];
    for (let i = 0; i < all.length; i += most) void settle(all.slice(i, i + most));
  }

  async function settle(some: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const answers = await act(some.map(({ item }) => item));
      for (const [i, { resolve }] of some.entries()) resolve(answers[i] as R);
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(send);
      waiting.push({ item, resolve, reject });
    });
}

interface Waiting<T, R> {
  readonly item: T;
  readonly resolve: (answer: R) => void;
  readonly reject: (error: unknown) => void;
}
