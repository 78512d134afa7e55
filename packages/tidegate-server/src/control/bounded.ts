/** Ends a call that takes too long, also one that does not listen to its signal. */
export async function bounded<T>(
  withinMs: number,
  what: string,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const giveUp = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = Object.assign(new Error(`${what} took longer than ${withinMs} ms`), {
        name: "TimeoutError",
      });
      giveUp.abort(error);
      reject(error);
    }, withinMs);
  });
  try {
    return await Promise.race([call(giveUp.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}
