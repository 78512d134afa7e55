import type { BusySecond, ClientReport, PolicyOutcome, RuleReport } from "tidegate/simulate";
import { printable, printableStart } from "../printable.js";
import type { ReplayReport } from "../rehearse/replay-report.js";
import type { Colour } from "./paint.js";
import { sparkline } from "./sparkline.js";
import { type Column, table } from "./table.js";
import { span } from "./times.js";

type Paint = (colour: Colour, text: string) => string;

const mostShown = 10;
const barsAcross = 60;

/** A report for people, part by part; parts of which there is nothing to say are left out. */
export function replayText(report: ReplayReport, paint: Paint): string {
  const title = (text: string) => paint("bold", text);
  return [
    headOf(report),
    outcomesOf(report),
    overTime(report),
    `${title("Rules")}\n${rulesOf(report)}`,
    offendersOf(report, title),
    changesOf(report, title),
    suspicionsOf(report, title),
    suggestionsOf(report, title),
    listed(title("Notes"), report.notes),
    malformedOf(report, title),
  ]
    .filter((part) => part !== "")
    .map((part) => part.trimEnd())
    .join("\n\n");
}

function headOf({ requests, clients, from, to, late, input }: ReplayReport): string {
  const lines = [`${some(requests, "request")} of ${some(clients, "client")}, ${period(from, to)}`];
  if (late > 0)
    lines.push(`${count(late)} came too late to be put in order, and were judged when they came.`);
  const shown = input.files.slice(0, mostShown).map(({ name, format, lines: all, malformed, skipped }) => {
    const unread = malformed === 0 ? "" : `, ${count(malformed)} could not be read`;
    const others = skipped === 0 ? "" : `, ${count(skipped)} were no requests`;
    return `  ${printable(name)}: ${format}, ${some(all, "line")}${unread}${others}`;
  });
  if (input.files.length > mostShown) shown.push(`  and ${input.files.length - mostShown} more files`);
  const against = input.against === undefined ? "" : ` against ${printable(input.against)}`;
  if (input.policy !== undefined) shown.push(`  under ${printable(input.policy)}${against}`);
  return [...lines, ...shown].join("\n");
}

function period(from: number | undefined, to: number | undefined): string {
  if (from === undefined || to === undefined) return "at no time";
  return `${moment(from)} to ${moment(to)} UTC (${span(to - from)})`;
}

function outcomesOf({ requests, outcome, against, worstSecond }: ReplayReport): string {
  const rows: [string, (of: PolicyOutcome) => number][] = [
    ["let through", ({ allowed }) => allowed],
    ["refused", ({ refused }) => refused],
    ["  of them held", ({ held }) => held],
    ["refused but for shadow", ({ shadow }) => shadow],
    ["delayed", ({ delayed }) => delayed],
  ];
  const told = rows
    .filter(([, of], i) => i < 2 || of(outcome) > 0 || (against !== undefined && of(against) > 0))
    .map(([name, of]) => ({
      name,
      policy: share(of(outcome), requests),
      against: against && share(of(against), requests),
    }));
  const clients = {
    name: "clients refused",
    policy: count(outcome.refusedClients),
    against: against && count(against.refusedClients),
  };
  const worst = {
    name: "worst second at the origin",
    policy: busy(worstSecond.passed),
    against: worstSecond.passedAgainst && busy(worstSecond.passedAgainst),
  };
  const columns: Column<typeof worst>[] = [
    { title: "", of: ({ name }) => name },
    { title: "POLICY", of: ({ policy }) => policy },
  ];
  if (against !== undefined) columns.push({ title: "AGAINST", of: (row) => row.against });
  return `${table(columns, [...told, clients, worst])}Recorded was at worst ${busy(worstSecond.recorded)}.`;
}

function busy({ at, requests }: BusySecond): string {
  return `${count(requests)}/s at ${moment(at)}`;
}

function overTime({ series }: ReplayReport): string {
  const lines = [
    `requests ${sparkline(narrow(series.requests))}`,
    `refused  ${sparkline(narrow(series.refused))}`,
  ];
  if (series.refusedAgainst !== undefined) lines.push(`against  ${sparkline(narrow(series.refusedAgainst))}`);
  return lines.join("\n");
}

/** Summed up until it fits. */
function narrow(numbers: readonly number[]): number[] {
  const each = Math.max(1, Math.ceil(numbers.length / barsAcross));
  const sums: number[] = new Array(Math.ceil(numbers.length / each)).fill(0);
  for (const [i, number] of numbers.entries())
    sums[Math.floor(i / each)] = (sums[Math.floor(i / each)] ?? 0) + number;
  return sums;
}

const silences = { "never-applies": "no request was its", "never-fires": "refused nobody" } as const;

function rulesOf({ rules, series }: ReplayReport): string {
  const columns: Column<RuleReport>[] = [
    { title: "RULE", of: ({ rule, isShadow }) => `${rule}${isShadow ? " (shadow)" : ""}` },
    { title: "JUDGED", of: ({ judged }) => count(judged), isNumber: true },
    { title: "REFUSED", of: ({ refused }) => count(refused), isNumber: true },
    { title: "CLIENTS", of: ({ clients }) => count(clients), isNumber: true },
    { title: "FIRST", of: ({ firstAt }) => firstAt && moment(firstAt) },
    { title: "LAST", of: ({ lastAt }) => lastAt && moment(lastAt) },
    {
      title: "OVER TIME",
      of: ({ rule, silence }) =>
        silence === undefined
          ? sparkline(narrow(series.refusedBy[rule] ?? []).slice(0, barsAcross))
          : silences[silence],
    },
  ];
  return table(columns, rules);
}

const clientColumns: readonly Column<ClientReport>[] = [
  { title: "CLIENT", of: ({ client }) => short(client, 48) },
  { title: "ADDRESS", of: ({ client, address }) => (address === client ? undefined : address) },
  { title: "RULE", of: ({ rule }) => rule },
  { title: "REQUESTS", of: ({ requests }) => count(requests), isNumber: true },
  { title: "REFUSED", of: ({ refused }) => count(refused), isNumber: true },
  { title: "SHARE", of: ({ share: part }) => percent(part), isNumber: true },
  { title: "FIRST", of: ({ firstRefusedAt }) => moment(firstRefusedAt) },
  { title: "LAST", of: ({ lastRefusedAt }) => moment(lastRefusedAt) },
  { title: "LONGEST HOLD", of: ({ longestHoldMs }) => (longestHoldMs > 0 ? span(longestHoldMs) : undefined) },
  { title: "USER AGENT", of: ({ userAgent }) => userAgent && short(userAgent, 40) },
];

function offendersOf({ offenders }: ReplayReport, title: Titled): string {
  if (offenders.length === 0) return "";
  // Rules by address need it only once.
  const isPlain = offenders.every(({ client, address }) => client === address);
  const columns = clientColumns.filter(({ title: name }) => name !== "ADDRESS" || !isPlain);
  const more = offenders.length > mostShown ? `and ${offenders.length - mostShown} more in --json\n` : "";
  return `${title("Refused most")}\n${table(columns, offenders.slice(0, mostShown))}${more}`;
}

function changesOf({ change }: ReplayReport, title: Titled): string {
  if (change === undefined) return "";
  const { newlyRefused, newlyPassed, worst } = change;
  const head = `${title("Against the other policy")}
newly refused      ${some(newlyRefused.requests, "request")} of ${some(newlyRefused.clients, "client")}
newly let through  ${some(newlyPassed.requests, "request")} of ${some(newlyPassed.clients, "client")}`;
  if (worst.length === 0) return head;
  const rows = table(
    [
      { title: "CLIENT", of: ({ client }) => short(client, 48) },
      { title: "REQUESTS", of: ({ requests }) => count(requests), isNumber: true },
      { title: "NEWLY REFUSED", of: (row) => count(row.newlyRefused), isNumber: true },
      { title: "NEWLY LET THROUGH", of: (row) => count(row.newlyPassed), isNumber: true },
      { title: "USER AGENT", of: ({ userAgent }) => userAgent && short(userAgent, 40) },
    ],
    worst.slice(0, mostShown),
  );
  return `${head}\n${rows}`;
}

function suspicionsOf({ falsePositives }: ReplayReport, title: Titled): string {
  const lines = falsePositives
    .slice(0, mostShown)
    .map(
      ({ client, rule, refused, words }) =>
        `${short(client, 48)} by ${rule}, ${count(refused)} refused: ${words}`,
    );
  return listed(title("Maybe refused wrongly"), lines);
}

function suggestionsOf({ suggestions = [] }: ReplayReport, title: Titled): string {
  if (suggestions.length === 0) return "";
  const rows = table(
    [
      { title: "RULE", of: ({ rule }) => rule },
      { title: "LIMIT", of: ({ limit }) => limit },
      { title: "SUGGESTED", of: ({ suggested = "–" }) => suggested },
      {
        title: "WOULD REFUSE",
        of: ({ refused }) => (refused === undefined ? undefined : count(refused)),
        isNumber: true,
      },
      {
        title: "CLIENTS",
        of: ({ refusedClients: of }) => (of === undefined ? undefined : count(of)),
        isNumber: true,
      },
      { title: "WHY", of: ({ words }) => words },
    ],
    suggestions,
  );
  return `${title("Suggested limits")}\n${rows}`;
}

function malformedOf({ input }: ReplayReport, title: Titled): string {
  const lines = input.samples.map(({ file, line, text }) => `${file}:${line} ${short(text, 120)}`);
  return listed(title("Lines that could not be read"), lines);
}

type Titled = (text: string) => string;

function listed(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${title}\n${lines.map((line) => `- ${printable(line)}`).join("\n")}`;
}

function short(text: string, most: number): string {
  return text.length <= most ? text : printableStart(text, most);
}

function count(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** "1 client", "2,000 clients". */
function some(number: number, one: string): string {
  return `${count(number)} ${one}${number === 1 ? "" : "s"}`;
}

function share(part: number, whole: number): string {
  return whole === 0 ? count(part) : `${count(part)} (${percent(part / whole)})`;
}

function percent(part: number): string {
  return `${part > 0 && part < 0.001 ? "<0.1" : (part * 100).toFixed(1)} %`;
}

/** `2026-01-31 12:00:00`, in UTC. */
function moment(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}
