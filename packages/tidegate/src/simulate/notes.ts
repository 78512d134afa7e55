import { shown } from "../errors.js";
import type { RuleOptions } from "../policy/rule-options.js";
import type { RehearsalOptions } from "./rehearsal.js";
import { type RehearsalTally, toldFacts } from "./rehearsal-tally.js";

/** What is estimated, and what the record could not tell. */
export function notesOf(tally: RehearsalTally, { policy, tierOf }: RehearsalOptions): string[] {
  const { late, clients, refused, change, suggestions } = tally;
  const { mode, rules } = policy;
  const silent = tally.rules.rows.filter(({ judged }) => judged === 0);
  return [
    ...note(mode === "off", "The policy is off: it lets everything pass."),
    ...note(
      mode === "shadow",
      "The policy is in shadow: what it would refuse is counted as such, and passes.",
    ),
    ...note(
      late > 0,
      `${shown(late)} requests were older than the one before them, and were judged at its time.`,
    ),
    ...note(!clients.isExact, "The number of clients is estimated, within about 1 %."),
    ...note(
      refused.dropped > 0,
      "More clients were refused than are remembered by name. Those refused least were let go: clients told of may have been refused more often.",
    ),
    ...note(
      (change?.dropped ?? 0) > 0,
      "The policies treat more clients differently than are remembered by name: the least changed were let go.",
    ),
    ...note(
      suggestions !== undefined,
      "Suggestions count what was asked for in windows side by side, also what was refused; what they would refuse is worked out from these counts, in steps of 3 %.",
    ),
    ...note(
      suggestions?.isEstimated === true,
      "Suggestions: there were more clients than can be followed at once, so one that came back later may count as another.",
    ),
    ...note(
      rules.some(({ action }) => action === "delay"),
      "Delayed requests wait by the time of the record, and are judged again when their wait is over; clients are taken to send the same as if they had not waited.",
    ),
    ...note(
      rules.some(({ limits }) => limits === "tier") && tierOf === undefined,
      "Customers' tiers are not in the record: all have the default tier.",
    ),
    ...tally.rules.rows
      .filter(({ judged }) => judged > 0)
      .flatMap(({ index }) => nameless(rules[index] as RuleOptions, tally)),
    ...silent.flatMap(({ index }) => unheard(rules[index] as RuleOptions, tally)),
  ];
}

function note(holds: boolean, words: string): string[] {
  return holds ? [words] : [];
}

/** It counted as if all were one, where they have no name. */
function nameless({ name, by }: RuleOptions, { tells }: RehearsalTally): string[] {
  const missing = toldFacts.filter((fact) => [by].flat().includes(fact) && !tells[fact]);
  if (missing.length === 0) return [];
  return [
    `Rule ${shown(name)} counts by ${missing.join(", ")}, which no request of the record tells: it was judged as if all had the same.`,
  ];
}

function unheard({ name, by, mode }: RuleOptions, tally: RehearsalTally): string[] {
  if (mode === "off") return [`Rule ${shown(name)} is off.`];
  const untold = [by].flat().filter((fact) => !tally.told(fact));
  if (tally.requests === 0) return [];
  return [
    untold.length === 0
      ? `Rule ${shown(name)} applied to no request: none was what it is for.`
      : `Rule ${shown(name)} applied to no request: it counts by ${untold.join(", ")}, which the record may not tell.`,
  ];
}
