import type { Verdict } from "tidegate";
import type { DecisionAnswer } from "../api/types.js";
import { printable } from "../printable.js";
import type { RefusalFacts } from "../refusal.js";
import { byWhom } from "./held-text.js";
import { table } from "./table.js";
import { iso, relative, span } from "./times.js";

/** Never comes, in JSON. */
type Told<Time> = Time | null;

/** When it was, who it was, and what decided, a line each; then what every rule had counted. */
export function refusalText({ decision }: DecisionAnswer): string {
  const { id, at, about, source, delayedMs, verdicts } = decision;
  const lines = [
    `Decision ${printable(id)} refused this request ${when(at)}:`,
    `  ${requestWords(about)}`,
    decidedBy(decision),
    ...(source === "local" || source === "none" ? ["The store was out of reach."] : []),
    ...(delayedMs > 0 ? [`It had been kept waiting for ${span(delayedMs)}.`] : []),
  ];
  return verdicts.length === 0 ? lines.join("\n") : `${lines.join("\n")}\n\n${verdictsTable(verdicts)}`;
}

/** `3 min ago, at 2026-01-31T12:00:00.000Z`. */
function when(at: number): string {
  const ago = relative(at);
  return `${ago === "now" ? "just now" : ago}, at ${iso(at)}`;
}

/** `GET shop.example/x from 203.0.113.7, user agent "curl/8"`, printable. */
export function requestWords({
  ip,
  method,
  host,
  path,
  userAgent,
  user,
  customer,
  account,
}: RefusalFacts): string {
  const said = [
    `${method ?? ""} ${host ?? ""}${path ?? ""} from ${ip === undefined || ip === "" ? "an unknown address" : ip}`,
    ...(customer === undefined ? [] : [`customer ${customer}`]),
    ...(user === undefined ? [] : [`user ${user}`]),
    ...(account === undefined ? [] : [`account ${account}`]),
    ...(userAgent === undefined ? [] : [`user agent "${userAgent}"`]),
  ];
  return printable(said.join(", "));
}

function decidedBy({ at, reason, verdict, listed }: DecisionAnswer["decision"]): string {
  if (listed !== undefined)
    return `Decided by the ${printable(reason)}: ${printable(listed.address)}${byWhom(listed)}.`;
  if (verdict === undefined) return "Nobody counted: onStoreFailure says to refuse.";
  const { rule, name, key, tier, limit, windowMs } = verdict;
  const heldUntil: Told<number> | undefined = verdict.heldUntil;
  const ofTier = tier === undefined ? "" : ` (tier ${tier})`;
  const most = `${limit} in ${span(windowMs)}${ofTier} for ${key}`;
  const why =
    reason === "held"
      ? `held ${heldUntil == null ? "for ever" : `until ${iso(heldUntil)} (${relative(heldUntil)})`}, by ${most}`
      : `over its limit ${name} of ${most}${comeBack(verdict, at)}`;
  return printable(`Decided by the rule ${rule}: ${why}.`);
}

function comeBack({ retryAfterMs }: { retryAfterMs: Told<number> }, at: number): string {
  if (retryAfterMs === null) return "; such a call can never pass";
  return `; told to come back after ${span(Math.ceil(retryAfterMs / 1000) * 1000)} (${relative(at + retryAfterMs)})`;
}

function verdictsTable(verdicts: readonly Verdict[]): string {
  return table(
    [
      { title: "LEVEL", of: ({ name }) => name },
      { title: "KEY", of: ({ key }) => key },
      { title: "LEFT", of: ({ remaining }) => Number(remaining.toPrecision(6)), isNumber: true },
      { title: "LIMIT", of: ({ limit }) => limit, isNumber: true },
      { title: "WINDOW", of: ({ windowMs }) => span(windowMs) },
      {
        title: "A SECOND",
        of: ({ estimate }) => (estimate === undefined ? undefined : Number(estimate.toPrecision(3))),
        isNumber: true,
      },
      { title: "SAID", of: said },
    ],
    verdicts,
  );
}

function said({ allowed, shadow, heldUntil, at }: Verdict): string {
  const answer = allowed ? "passes" : heldUntil != null && heldUntil > at ? "held" : "refused";
  return shadow ? `${answer} (shadow)` : answer;
}
