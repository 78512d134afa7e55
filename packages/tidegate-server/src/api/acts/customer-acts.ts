import type { AuditEntry } from "../../data.js";
import { customerTag } from "../conflict/tags.js";
import { customerAnswer } from "../customer-answer.js";
import type { AdminParts } from "../handler.js";
import { note } from "../note.js";
import type { CustomerAnswer } from "../types.js";
import { type Act, saidBy } from "./act.js";

/** One part of what is on record. Null: the default tier, the tier's limits. */
export type CustomerChange = Pick<CustomerAnswer, "tier"> | Pick<CustomerAnswer, "limits">;

/** Sets one part, and leaves the other. What is so already is not noted again. */
export function setCustomer(
  parts: AdminParts,
  id: string,
  change: CustomerChange,
  act: Act,
): Promise<{ readonly answer: CustomerAnswer; readonly tag?: string; readonly noted?: AuditEntry }> {
  const { customers } = parts;
  return parts.turn(`customer ${id}`, async () => {
    const record = await customers.get(id);
    const now = customerAnswer(id, record);
    act.check({ tag: record && customerTag(record), now });
    const part = "tier" in change ? "tier" : "limits";
    const { [part]: after } = change as CustomerAnswer;
    const { [part]: before } = now;
    // Also what is so already: a primary database may have it otherwise.
    const write =
      "tier" in change
        ? await customers.setTier(id, change.tier ?? undefined)
        : await customers.setLimits(id, change.limits ?? undefined);
    const isNew = JSON.stringify(before) !== JSON.stringify(after);
    const noted =
      isNew || write?.state === "pending"
        ? await note(parts, { what: `customer.${part}`, target: id, ...saidBy(act), before, after })
        : undefined;
    const next = await customers.get(id);
    return {
      answer: {
        ...customerAnswer(id, next, write?.state),
        ...(isNew && before !== null && { before: { [part]: before } }),
      },
      ...(next && { tag: customerTag(next) }),
      ...(noted && { noted }),
    };
  });
}
