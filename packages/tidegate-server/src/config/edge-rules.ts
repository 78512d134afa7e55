import { type Limit, type Policy, type RateText, type RuleOptions, tokenBucket } from "tidegate";
import { refusesAsEdgesDo } from "../edge-feed.js";
import type { ControlSettings, EdgeSettings } from "../settings.js";
import { nearest } from "./nearest.js";
import { type Path, pathText } from "./path.js";
import type { Words } from "./problem-list.js";
import type { LimitReader } from "./read-limits.js";
import type { ReadPolicy } from "./read-policy.js";

/** Where offenders go, for rules that feed edges. */
export interface EdgeTerms {
  readonly edges: Readonly<Record<string, EdgeSettings>>;
  readonly control: ControlSettings;
}

/** What every edge can look up by itself, of a request. */
const knownFacts: readonly unknown[] = ["ip", "network", "standard", "broad"];

/** From a write until all of the edge knows; of kinds that take their time. */
const slowKinds: Readonly<Record<string, string>> = { fastly: "30 seconds" };
const aMinute = 60_000;

/** Refuses rules that name an edge there is none of, and tells of those that would feed one in vain. */
export function judgeEdges(
  read: ReadPolicy,
  base: Path,
  { edges, control }: EdgeTerms,
  { problems, warn }: LimitReader,
): void {
  const names = Object.keys(edges);
  const told = new Set<string>();
  for (const [i, rule] of read.policy.rules.entries()) {
    if (rule.edges === undefined || rule.edges === false) continue;
    const path = [...base, ...read.writtenAt(["rules", i])];
    const named = rule.edges === true ? [] : rule.edges;
    for (const [n, name] of named.entries())
      if (!names.includes(name)) problems.add([...path, "edges", n], unknownEdge(name, names));
    for (const words of inVain(rule, read.policy, edges)) {
      const place = `${pathText(path)} ${words.code}`;
      if (!told.has(place)) warn(words, path);
      told.add(place);
    }
  }
  for (const [name, { kind }] of Object.entries(edges)) {
    const isFed = read.policy.rules.some((rule) => feeds(rule, name) && isByAddress(rule));
    if (kind === "nginx" && !isFed && control.track?.address === undefined)
      warn(blindEdge(name), ["edges", name]);
    if (slowKinds[kind] !== undefined && control.track !== undefined)
      for (const rate of ["standard", "broad", "address"] as const)
        if (windowOf((control.track[rate] ?? "1 per hour") as RateText) < aMinute)
          warn(tooFast(`control.track.${rate}`, name, kind), ["control", "track", rate]);
  }
}

function inVain(rule: RuleOptions, policy: Policy, edges: EdgeTerms["edges"]): Words[] {
  const title = `Rule ${JSON.stringify(rule.name)}`;
  const slow = Object.entries(edges).find(([name, { kind }]) => slowKinds[kind] && feeds(rule, name));
  return [
    ...(rule.hold === undefined ? [holdsNobody(title)] : []),
    ...(factOf(rule) === undefined ? [nobodyKnows(title)] : []),
    ...(factOf(rule) !== undefined && !refusesAsEdgesDo(rule) ? [onlyThere(title)] : []),
    ...(Object.keys(edges).length === 0 && rule.edges === true ? [noEdges(title)] : []),
    ...(slow !== undefined && limitsOf(rule, policy).some((limit) => windowOf(limit) < aMinute)
      ? [tooFast(title, slow[0], slow[1].kind)]
      : []),
  ];
}

function feeds(rule: RuleOptions, name: string): boolean {
  const { edges } = rule;
  return refusesAsEdgesDo(rule) && (edges === true || (Array.isArray(edges) && edges.includes(name)));
}

/** By what the rule counts, if an edge can know that too. */
function factOf({ by }: RuleOptions): unknown {
  const [fact, ...others] = [by].flat() as unknown[];
  return others.length === 0 && knownFacts.includes(fact) ? fact : undefined;
}

function isByAddress(rule: RuleOptions): boolean {
  const fact = factOf(rule);
  return fact === "ip" || fact === "network";
}

function limitsOf({ limits }: RuleOptions, { tiers = {} }: Policy): readonly (Limit | RateText)[] {
  return limits === "tier" ? Object.values(tiers).flat() : ([limits].flat() as (Limit | RateText)[]);
}

/** Milliseconds. What has no window, or forgets gradually, is never too fast. */
function windowOf(limit: Limit | RateText): number {
  if (typeof limit === "string") {
    try {
      return Math.ceil(tokenBucket({ rate: limit, burst: 1 }).windowMs * Number.parseFloat(limit));
    } catch {
      return aMinute;
    }
  }
  return limit.ledger === undefined && limit.kind !== "earrrl" ? limit.windowMs : aMinute;
}

function unknownEdge(name: string, names: readonly string[]): Words {
  const guess = nearest(name, names);
  const known =
    names.length === 0 ? "None is configured: write it under edges." : `There are ${names.join(", ")}.`;
  return {
    code: "TG_EDGE_UNKNOWN",
    message: `There is no edge ${JSON.stringify(name.slice(0, 64))}.`,
    help: guess === undefined ? known : `Did you mean ${guess}? ${known}`,
  };
}

function holdsNobody(title: string): Words {
  return {
    code: "TG_EDGE_RULE_HOLD",
    message: `${title} has edges, but holds nobody, so nothing ever goes there.`,
    help: "Give it a hold, e.g. hold: { after: 10, for: [1m, 5m, 1h] }, or drop edges.",
  };
}

function nobodyKnows(title: string): Words {
  return {
    code: "TG_EDGE_RULE_BY",
    message: `${title} has edges, but counts by what no edge can know, so nothing ever goes there.`,
    help: "Count by ip, network, standard or broad alone, or drop edges.",
  };
}

function onlyThere(title: string): Words {
  return {
    code: "TG_EDGE_RULE_ONLY",
    message: `${title} has edges, but does not apply to every request, and an edge would refuse whom it holds on every path: nothing goes there.`,
    help: "Write hold: { …, everywhere: true } to refuse whom it holds on every path, here too, count by standard, or drop edges.",
  };
}

function noEdges(title: string): Words {
  return {
    code: "TG_EDGE_RULE_NONE",
    message: `${title} has edges, and no edge is configured.`,
    help: "Write one under edges, e.g. edges: { cache: { kind: varnish, url: http://127.0.0.1:6091 } }, or drop edges.",
  };
}

function tooFast(title: string, edge: string, kind: string): Words {
  return {
    code: "TG_EDGE_RULE_FAST",
    message: `${title} has a window shorter than a minute, and feeds ${edge}, which knows of a client after about ${slowKinds[kind]}: most of such a burst is over by then.`,
    help: "Write it per minute or longer, or feed faster edges by name: edges: [cache].",
  };
}

function blindEdge(name: string): Words {
  return {
    code: "TG_EDGE_BLIND",
    message: `${name} knows clients by their address alone, and no rule by ip or network feeds it: whoever is tracked by a fingerprint is unknown there.`,
    help: `Give a rule by ip a hold and edges: [${name}], track addresses (control.track.address), or use another kind of edge.`,
  };
}
