import { lastSecond } from "./every-second.js";
import {
  type ClientSeries,
  clientSeconds,
  type Row,
  type RuleRows,
  ruleNames,
  type Series,
  stepMs,
  totalNames,
} from "./series.js";

/** Whoever is further behind than this does not hold up the others. */
const patienceSeconds = 3;

/** What several processes decided, as one: up to the last second all of them have told of. */
export function sumSeries(parts: readonly Series[], seconds: number): Series {
  const from =
    (endOf(parts.map((part) => part.from / stepMs + part.totals.allowed.length)) - seconds) * stepMs;
  const sum = (rows: readonly Placed[]): Row => sumRows(rows, from, seconds);
  const rules = new Set(parts.flatMap((part) => Object.keys(part.rules)));
  return {
    from,
    stepMs,
    since: Math.min(Date.now(), ...parts.map(({ since }) => since)),
    totals: eachOf(totalNames, (name) => sum(parts.map((part) => ({ ...part, row: part.totals[name] })))),
    rules: Object.fromEntries(
      [...rules].map((rule): [string, RuleRows] => [
        rule,
        eachOf(ruleNames, (name) =>
          sum(parts.map((part) => ({ ...part, row: part.rules[rule]?.[name] ?? [] }))),
        ),
      ]),
    ),
  };
}

/** Undefined: nobody follows this client. */
export function sumClients(parts: readonly ClientSeries[]): ClientSeries | undefined {
  const [one] = parts;
  if (one === undefined) return undefined;
  const end = endOf(parts.map((part) => part.from / stepMs + part.requests.length));
  const from = (end - clientSeconds) * stepMs;
  const sum = (name: "requests" | "refused"): Row =>
    sumRows(
      parts.map((part) => ({ ...part, row: part[name] })),
      from,
      clientSeconds,
    );
  return { key: one.key, from, stepMs, requests: sum("requests"), refused: sum("refused") };
}

interface Placed {
  readonly from: number;
  readonly row: Row;
}

/** The second after the last one. */
function endOf(ends: readonly number[]): number {
  const now = lastSecond() + 1;
  return ends.length === 0 ? now : Math.max(Math.min(...ends), now - patienceSeconds);
}

function sumRows(rows: readonly Placed[], from: number, count: number): Row {
  const sums = new Array<number>(count).fill(0);
  for (const each of rows) {
    const shift = (each.from - from) / stepMs;
    for (const [i, number] of each.row.entries())
      if (i + shift >= 0 && i + shift < count) sums[i + shift] = (sums[i + shift] as number) + number;
  }
  return sums;
}

function eachOf<Name extends string>(names: readonly Name[], row: (name: Name) => Row): Record<Name, Row> {
  return Object.fromEntries(names.map((name) => [name, row(name)])) as Record<Name, Row>;
}
