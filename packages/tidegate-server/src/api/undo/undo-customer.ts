import { isDeepStrictEqual } from "node:util";
import type { AuditEntry } from "../../data.js";
import { type CustomerChange, setCustomer } from "../acts/customer-acts.js";
import type { Undoing } from "./undoing.js";

export function undoCustomer({ what, target, before, after }: AuditEntry): Undoing | undefined {
  if (target === undefined || before === undefined || after === undefined) return undefined;
  const part = what === "customer.tier" ? "tier" : "limits";
  const partOf = (now: unknown): unknown => (now as Record<string, unknown>)[part];
  return {
    role: "operator",
    isLeft: (now) => isDeepStrictEqual(partOf(now), after),
    isBack: (now) => isDeepStrictEqual(partOf(now), before),
    undo: async (parts, act) =>
      (await setCustomer(parts, target, { [part]: before } as unknown as CustomerChange, act)).noted,
  };
}
