/** How the lists of the data come to be there at a start. */
export interface FirstLists {
  /** They are on their way. What can not be read is not waited for: the policy's own lists hold. */
  readonly isLoading: boolean;
  loaded(): void;
  unreachable(): void;
  /** Resolves when they are there or out of reach, at the latest after so long. */
  settled(withinMs: number): Promise<void>;
}

export function firstLists(): FirstLists {
  let isLoading = true;
  let settle: () => void = () => {};
  const end = new Promise<void>((resolve) => {
    settle = resolve;
  });
  function ended(): void {
    isLoading = false;
    settle();
  }
  return {
    get isLoading() {
      return isLoading;
    },
    loaded: ended,
    unreachable: ended,
    async settled(withinMs) {
      const timer = setTimeout(settle, Math.max(0, withinMs));
      await end;
      clearTimeout(timer);
    },
  };
}
