import type { Leases } from "../../data.js";
import type { Run } from "./commands.js";
import type { ControlKeys } from "./control-keys.js";
import { giveUpScript, holderScript, takeScript } from "./lease-scripts.js";

/** A lease ends by Redis's own clock, whatever becomes of its holder. */
export function redisLeases({ run, keys }: { readonly run: Run; readonly keys: ControlKeys }): Leases {
  return {
    async take(name, holder, forMs) {
      const ms = String(Math.max(1, Math.ceil(forMs)));
      const number = await run(takeScript, [keys.lease(name), keys.fence], [holder, ms]);
      return typeof number === "string" ? Number(number) : undefined;
    },
    async giveUp(name, holder) {
      await run(giveUpScript, [keys.lease(name)], [holder]);
    },
    async holder(name) {
      const holder = await run(holderScript, [keys.lease(name)], []);
      return typeof holder === "string" ? holder : undefined;
    },
  };
}
