import type { ListEntry } from "tidegate";
import type { EdgesAnswer, ExplainAnswer, HeldClient } from "../api/types.js";
import type { EdgeStanding, EdgeStatus } from "../control-desk.js";
import type { ClearedKey } from "../data.js";
import { printable } from "../printable.js";
import type { Cli } from "./cli.js";
import { table } from "./table.js";
import { relative, span } from "./times.js";

/** How held clients stand at the edges, why they are held, and until when. */
export function heldTable(offenders: readonly HeldClient[]): string {
  return table(
    [
      { title: "AT THE EDGES", of: ({ standing }) => standingWords(standing) },
      { title: "BY RULE", of: ({ rule }) => rule },
      { title: "KEY", of: ({ key }) => shortKey(key) },
      { title: "SINCE", of: ({ since }) => relative(since) },
      { title: "ENDS", of: ({ until }) => relative(until) },
      { title: "TIMES OVER", of: ({ score }) => Number(score.toPrecision(3)), isNumber: true },
      { title: "LEAKED", of: ({ leaked }) => leaked, isNumber: true },
      { title: "LAST SEEN AS", of: ({ about }) => seenAs(about) },
    ],
    offenders,
  );
}

/** `cdn, lb: held; web: spared (safelist)`. */
function standingWords(standing: readonly EdgeStanding[]): string {
  const byWords = new Map<string, string[]>();
  for (const each of standing) {
    const words = stateWords(each);
    byWords.set(words, [...(byWords.get(words) ?? []), each.edge]);
  }
  return [...byWords].map(([words, edges]) => `${edges.join(", ")}: ${words}`).join("; ");
}

function stateWords({ state, until, why }: EdgeStanding): string {
  switch (state) {
    case "off":
      return "edge off";
    case "shadow":
      return "edge in shadow";
    case "hold-off":
      return until === undefined ? state : `hold-off, ends ${relative(until)}`;
    default:
      return why === undefined ? state : `${state} (${why})`;
  }
}

/** `Refused at front (edge/standard, another 57 s)`; undefined: no edge refuses it. */
export function refusedWords({ refusedAt }: ExplainAnswer): string | undefined {
  const [first, ...others] = [...(refusedAt ?? [])].sort((one, other) => other.until - one.until);
  if (first === undefined) return undefined;
  const names = [...new Set([first, ...others].map(({ edge }) => edge))].join(", ");
  return printable(`Refused at ${names} (${first.rule}, another ${span(first.until - Date.now())})`);
}

/** Tells where a client is held at the edges, which of those do not refuse it now, and who cleared it, by whose word. */
export async function tellHeld(cli: Cli, { offenders, cleared }: ExplainAnswer): Promise<void> {
  for (const words of clearedWords(cleared ?? [])) cli.print(words);
  if (offenders === null) cli.note("Whether it is held at an edge can not be told now.");
  if (offenders == null || offenders.length === 0) return;
  cli.print(`\n${heldTable(offenders)}`);
  const named = new Set(offenders.flatMap(({ edges }) => edges));
  const { edges } = (await cli.admin().get("/v1/edges")) as EdgesAnswer;
  for (const status of edges.filter(({ edge }) => named.has(edge)))
    for (const words of modeWords(status)) cli.print(printable(`${status.edge} ${words}`));
}

/** One clear is of several keys. */
function clearedWords(cleared: readonly ClearedKey[]): Set<string> {
  return new Set(
    cleared.map(
      ({ who, at, until }) =>
        `Cleared by ${printable(who)} ${relative(at)}: until that wears off, ${relative(until)}, it goes to no edge.`,
    ),
  );
}

function modeWords({ mode, setBy, stopped }: EdgeStatus): string[] {
  const by =
    setBy === undefined
      ? ""
      : `, set by ${setBy.who}${setBy.why === undefined ? "" : ` (${setBy.why})`} ${relative(setBy.at)}`;
  return [
    ...(mode === "on" ? [] : [`is ${mode}, so it lets everybody pass${by}.`]),
    ...(stopped === undefined
      ? []
      : [`withholds new entries by itself, so whoever is new there passes: ${stopped}`]),
  ];
}

/** Which entry of a list speaks of a client, who put it there, and when it ends. */
export function listedText({ listed, reason }: ExplainAnswer): string | undefined {
  return listed && `${printable(listed.address)} is on the ${printable(reason)}${byWhom(listed)}.`;
}

/** `, put there by ann (scraper), ends in 6 h`, as far as it is known. */
export function byWhom({ who, why, until }: ListEntry): string {
  const put = who === undefined ? "" : `, put there by ${printable(who)}`;
  const reason = why === undefined ? "" : ` (${printable(why)})`;
  return `${put}${reason}${until == null ? "" : `, ends ${relative(until)}`}`;
}

/** A digest is known by its beginning. */
function shortKey(key: string): string {
  return /^[0-9a-f]{40,}$/.test(key) ? `${key.slice(0, 12)}…` : key;
}

function seenAs({ method, host, path, userAgent }: HeldClient["about"]): string {
  const request = [
    method,
    host === undefined && path === undefined ? undefined : `${host ?? ""}${path ?? ""}`,
  ];
  const agent = userAgent === undefined ? undefined : `"${userAgent.slice(0, 40)}"`;
  return [...request, agent].filter((part) => part !== undefined).join(" ");
}
