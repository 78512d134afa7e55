import { fixedWindow, memoryStore, type Verdict } from "tidegate";

/** Who guesses tokens too often is not heard for the rest of the minute, right or wrong. */
export interface WrongTokens {
  isLockedOut(address: string): boolean;
  came(address: string): void;
}

const limit = fixedWindow({ limit: 20, window: "1m" });

export function wrongTokens(): WrongTokens {
  const store = memoryStore({ maxKeys: 10_000 });
  const checksOf = (address: string) => [{ rule: "decide token", key: address || "unknown", limit }];
  return {
    isLockedOut: (address) => !(store.peek(checksOf(address)) as Verdict[])[0]?.allowed,
    came: (address) => void store.decide(checksOf(address)),
  };
}
