import type { ClientRow } from "./client-row.js";
import { notesOf } from "./notes.js";
import type { RehearsalOptions, RehearsalReport, Suspicion, TrafficSeries } from "./rehearsal.js";
import { byList, columns, type RehearsalTally } from "./rehearsal-tally.js";
import { suspicionOf } from "./suspicions.js";

export interface ReportTerms {
  readonly tally: RehearsalTally;
  readonly options: RehearsalOptions;
  /** What the gates warned of, and other things to be said. */
  readonly remarks: readonly string[];
}

/** What was counted, as plain data. */
export function reportOf({ tally, options, remarks }: ReportTerms): RehearsalReport {
  const { requests, from, to, late, refused, against, change, suggestions } = tally;
  const most = options.clients ?? 50;
  const nameOf = ({ rule }: ClientRow): string =>
    rule === byList ? "blocklist" : (options.policy.rules[rule]?.name ?? "");
  return {
    requests,
    ...(requests > 0 && { from, to }),
    late,
    clients: tally.clients.count,
    outcome: tally.outcome.report(),
    ...(against && { against: against.report() }),
    ...(change && { change: change.report(most) }),
    series: seriesOf(tally),
    worstSecond: {
      recorded: tally.recorded.busiest,
      passed: tally.passed.busiest,
      ...(against && { passedAgainst: tally.passedAgainst.busiest }),
    },
    rules: tally.rules.rows.map((row) => row.report()),
    offenders: refused.top(most).map((row) => row.report(nameOf(row))),
    falsePositives: refused
      .top(Number.POSITIVE_INFINITY)
      .flatMap((row): Suspicion[] => {
        const suspicion = suspicionOf(row);
        return suspicion === undefined ? [] : [{ ...row.report(nameOf(row)), ...suspicion }];
      })
      .slice(0, most),
    ...(suggestions && { suggestions: suggestions.report() }),
    notes: [...notesOf(tally, options), ...remarks],
  };
}

function seriesOf({ series, rules, against }: RehearsalTally): TrafficSeries {
  const byRule = rules.rows.map((row) => [row.name, series.column(columns.rules + row.index)] as const);
  const ofList = series.column(columns.refusedByList);
  return {
    everyMs: series.everyMs,
    at: series.times,
    requests: series.column(columns.requests),
    refused: series.column(columns.refused),
    ...(against && { refusedAgainst: series.column(columns.refusedAgainst) }),
    refusedBy: Object.fromEntries([
      ...byRule,
      ...(ofList.some((count) => count > 0) ? [["blocklist", ofList] as const] : []),
    ]),
  };
}
