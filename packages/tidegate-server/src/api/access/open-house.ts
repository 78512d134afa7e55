import type { Role, Tokens } from "../../data.js";
import type { Caller } from "./caller.js";
import { isOutage, shortMemory } from "./short-memory.js";

/**
 * As long as there is no token, programs on this machine may do everything, for there is nothing they could bring. While the
 * data is out of reach they may look, unless a token was ever seen.
 */
export interface OpenHouse {
  /** Undefined: whoever comes needs a token. */
  callerOf(needed: Role): Promise<Caller | undefined>;
  /** There is a token. */
  close(): void;
  /** A token was made or revoked. */
  forget(): void;
}

export function openHouse(tokens: Tokens): OpenHouse {
  const counts = shortMemory(async () => (await tokens.list()).length);
  let wasClosed = false;
  return {
    async callerOf(needed) {
      try {
        const known = await counts.get("");
        if (known?.outage !== undefined) throw known.outage;
        wasClosed = known?.value !== 0;
        return wasClosed ? undefined : { role: "admin" };
      } catch (error) {
        if (!isOutage(error) || wasClosed || needed !== "viewer") throw error;
        return { role: "viewer" };
      }
    },
    close() {
      wasClosed = true;
    },
    forget: counts.forget,
  };
}
