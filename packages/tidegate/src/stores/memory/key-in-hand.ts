import { commonHash, HashedKey } from "../../key-hash.js";
import type { Binding } from "./bindings.js";

/** The key whose states are looked for, by the halves of its hash. */
export class KeyInHand {
  #low = 0;
  #high = 0;

  /** Whoever stands in front of a store may have changed the key and left its hash, unless the caller answers for it. */
  take(key: string, hashed?: HashedKey, isSound = false): void {
    if (hashed !== undefined && (isSound || isHashOf(hashed, key))) {
      this.#low = hashed.low;
      this.#high = hashed.high;
      return;
    }
    commonHash.of(key);
    this.#low = commonHash.low;
    this.#high = commonHash.high;
  }

  /** The halves under which a limit's state of it is kept; a low half of 0 means none. */
  lowOf(binding: Binding): number {
    return this.#low ^ binding.low || 1;
  }

  highOf(binding: Binding): number {
    return this.#high ^ binding.high;
  }
}

function isHashOf(hashed: HashedKey | null, key: string): boolean {
  return hashed instanceof HashedKey && hashed.key === key;
}
