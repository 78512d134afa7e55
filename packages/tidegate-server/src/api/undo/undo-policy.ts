import type { AuditEntry } from "../../data.js";
import { policyStanding } from "../conflict/policy-standing.js";
import { undoneAlready } from "./undo-problems.js";
import type { Undoing } from "./undoing.js";

/** Puts the version before in force again, as a new one. The keeper leaves the audit entry. */
export function undoPolicy({ before, after }: AuditEntry): Undoing | undefined {
  if (typeof before !== "number" || typeof after !== "number") return undefined;
  const idOf = (now: unknown): unknown => (now as { id?: unknown } | null)?.id;
  return {
    role: "admin",
    isLeft: (now) => idOf(now) === after,
    isBack: (now) => idOf(now) === before,
    async undo({ data, keeper }, { check, ...by }) {
      const [newest, earlier] = await Promise.all([data.policies.newest(), data.policies.get(before)]);
      if (earlier !== undefined && earlier.digest === newest?.digest) throw undoneAlready();
      check(policyStanding(newest));
      await keeper.rollback({ ...by, to: before, ...(newest && { after: newest.id }) });
      const latest = await data.audit.list({ most: 20 }).catch(() => []);
      return latest.find(({ undoes }) => undoes !== undefined && undoes === by.undoes);
    },
  };
}
