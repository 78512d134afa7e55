import type { RatesEvent } from "../live/events.js";
import { printable } from "../printable.js";
import type { Cli } from "./cli.js";
import { sparkline } from "./sparkline.js";
import { table } from "./table.js";
import { relative } from "./times.js";
import { busiestTable } from "./top-text.js";
import type { TopView } from "./top-view.js";

export interface ScreenSize {
  readonly rows: number;
  /** Of the busiest clients. */
  readonly most: number;
}

/** What is shown on a terminal, line by line, the most important first. */
export function topScreen(
  view: TopView,
  url: string,
  { rows, most }: ScreenSize,
  paint: Cli["paint"],
): string[] {
  const { rates, busiest, held, trouble } = view;
  const head = [
    `${paint("bold", "tidegate top")}  ${printable(url)}  ${trouble === undefined ? paint("green", "live") : paint("yellow", trouble)}  ${paint("dim", "q quits")}`,
    ...alarms(view).map((words) => paint("red", words)),
    totalsLine(rates),
    factsLine(view),
  ];
  const rules = rulesTable(rates).slice(0, Math.max(3, Math.floor(rows / 3)));
  const newest = heldLines(held).slice(0, Math.max(3, Math.floor(rows / 4)));
  const left = Math.max(2, rows - head.length - block(rules) - block(newest) - 1);
  const clients =
    busiest.length === 0
      ? ["Nobody came lately."]
      : lines(busiestTable(busiest.slice(0, most))).slice(0, left);
  return [head, rules, clients, newest]
    .filter((each) => each.length > 0)
    .flatMap((each, i) => (i === 0 ? each : ["", ...each]))
    .slice(0, rows);
}

function alarms({ store, edges }: TopView): string[] {
  return [
    ...(store.isDegraded
      ? ["STORE DEGRADED: counts go on without it, in each process for itself until it is back."]
      : []),
    ...(store.data?.isReachable === false ? ["DATA OUT OF REACH: lists and policy stay as they are."] : []),
    ...edges.flatMap(({ edge, alarms }) => alarms.map((alarm) => printable(`${edge}: ${alarm}`))),
  ];
}

function totalsLine(rates: readonly RatesEvent[]): string {
  const last = rates.at(-1);
  if (last === undefined) return "No request has been counted yet.";
  const { allowed, refused, shadow } = last.totals;
  const all = sparkline(rates.map(({ totals }) => totals.allowed + totals.refused));
  return `allowed ${allowed}/s  refused ${refused}/s  shadow ${shadow}/s  ${all}`;
}

function factsLine({ store, policy, held, edges }: TopView): string {
  const named = edges.map(({ edge, mode, stopped, state }) =>
    printable(
      `${edge} ${stopped === undefined ? mode : `${mode}, new entries withheld`}, ${state ?? "out of reach"}`,
    ),
  );
  return [
    ...(store.kind === "" ? [] : [`store ${printable(store.kind)}${store.isDegraded ? " degraded" : ""}`]),
    ...(policy === undefined ? [] : [`policy version ${policy}`]),
    ...(held === undefined ? [] : [`${held.count} held`]),
    ...(named.length === 0 ? [] : [`edges: ${named.join("; ")}`]),
  ].join(" · ");
}

/** Those that refuse most first. */
function rulesTable(rates: readonly RatesEvent[]): string[] {
  const names = [...new Set(rates.flatMap(({ rules }) => Object.keys(rules)))];
  const rows = names.map((rule) => ({
    rule,
    last: rates.at(-1)?.rules[rule],
    judged: rates.map(({ rules }) => rules[rule]?.judged ?? 0),
    refused: rates.reduce((sum, { rules }) => sum + (rules[rule]?.refused ?? 0), 0),
  }));
  if (rows.length === 0) return [];
  rows.sort((one, other) => other.refused - one.refused || (one.rule < other.rule ? -1 : 1));
  return lines(
    table(
      [
        { title: "RULE", of: ({ rule }) => rule },
        { title: "JUDGED/S", of: ({ last }) => last?.judged ?? 0, isNumber: true },
        { title: "REFUSED/S", of: ({ last }) => last?.refused ?? 0, isNumber: true },
        { title: "SHADOW/S", of: ({ last }) => last?.shadow ?? 0, isNumber: true },
        { title: "LAST MINUTE", of: ({ judged }) => sparkline(judged) },
      ],
      rows,
    ),
  );
}

function heldLines(held: TopView["held"]): string[] {
  if (held === undefined || held.newest.length === 0) return [];
  return lines(
    table(
      [
        { title: "HELD", of: ({ about, key }) => about.ip ?? key },
        { title: "BY RULE", of: ({ rule }) => rule },
        { title: "SINCE", of: ({ since }) => relative(since) },
        { title: "ENDS", of: ({ until }) => relative(until) },
      ],
      held.newest,
    ),
  );
}

function lines(text: string): string[] {
  return text.trimEnd().split("\n");
}

/** With the empty line before it. */
function block(given: readonly string[]): number {
  return given.length === 0 ? 0 : given.length + 1;
}
