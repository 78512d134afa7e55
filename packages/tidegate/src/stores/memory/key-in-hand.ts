import { commonHash, HashedKey } from "../../key-hash.js";

/** The key whose states are looked for, by the halves of its hash. */
export class KeyInHand {
  low = 0;
  high = 0;

  /** Whoever stands in front of a store may have changed the key and left its hash, unless the caller answers for it. */
  take(key: string, hashed?: HashedKey, isSound = false): void {
    if (hashed !== undefined && (isSound || isHashOf(hashed, key))) {
      this.low = hashed.low;
      this.high = hashed.high;
      return;
    }
    commonHash.of(key);
    this.low = commonHash.low;
    this.high = commonHash.high;
  }
}

function isHashOf(hashed: HashedKey | null, key: string): boolean {
  return hashed instanceof HashedKey && hashed.key === key;
}
