/** Runs one job after the other, in the order they came. */
export interface InTurn {
  <T>(job: () => Promise<T>): Promise<T>;
  /** Resolves when all that came so far have ended. */
  idle(): Promise<void>;
}

export function inTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  const run = <T>(job: () => Promise<T>): Promise<T> => {
    const result = last.then(job);
    last = result.catch(() => {});
    return result;
  };
  return Object.assign(run, { idle: async () => void (await last) });
}
