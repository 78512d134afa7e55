import { fixedWindow, memoryStore, type Verdict } from "tidegate";

/** Counts wrong tokens. Who sent too many is not heard for the rest of the minute. */
export interface WrongTokens {
  isLockedOut(address: string): boolean;
  /** False when these are too many by now. */
  came(address: string): boolean;
}

const limit = fixedWindow({ limit: 20, window: "1m" });

export function wrongTokens(): WrongTokens {
  const store = memoryStore({ maxKeys: 10_000 });
  const checksOf = (address: string) => [{ rule: "decide token", key: address || "unknown", limit }];
  const isHeard = (verdicts: unknown): boolean => (verdicts as Verdict[])[0]?.allowed === true;
  return {
    isLockedOut: (address) => !isHeard(store.peek(checksOf(address))),
    came: (address) => isHeard(store.decide(checksOf(address))),
  };
}
