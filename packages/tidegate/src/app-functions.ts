/** Whether a function of the app's answered a promise. Nobody waits for it, and that it fails must not end the process. */
export function isPromised(told: unknown, onFailed: (error: unknown) => void = () => {}): boolean {
  const later = told as PromiseLike<unknown> | null | undefined;
  if (typeof later?.then !== "function") return false;
  later.then(undefined, onFailed);
  return true;
}

/** The app is told, not asked: what its function throws, now or later, changes no answer. */
export function tellApp(what: string, act: () => unknown): void {
  const onFailed = (error: unknown) => console.error(`Tidegate: ${what} threw.`, error);
  try {
    isPromised(act(), onFailed);
  } catch (error) {
    onFailed(error);
  }
}
