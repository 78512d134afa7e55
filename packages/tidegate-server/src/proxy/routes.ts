import { pathOf, pathReadings, unreadable } from "tidegate/http";
import type { UpstreamSettings } from "../settings.js";

type Routed = Pick<UpstreamSettings, "hosts" | "path">;

const mostRemembered = 1000;
const none = 0;
const anyHost = 1;
const belowHost = 2;
const sameHost = 1_000_000;
/** Instead of an upstream: the path may be understood as one of this upstream's, or of another's. */
export const inDoubt = "in doubt";

/**
 * Answers the function that finds a request's upstream. A host's own name counts before `*.` (the longer the better),
 * that before any; among those the longest path of whole segments wins. Paths are understood as rules understand them, so that
 * `/a/../b` is not below `/a`.
 */
export function routes<Upstream extends Routed>(
  upstreams: readonly Upstream[],
): (host: string, path: string) => Upstream | undefined | typeof inDoubt {
  const only = upstreams.length === 1 ? upstreams[0] : undefined;
  if (only?.hosts.length === 0 && only.path === "/") return () => only;
  const remembered = new Map<string, readonly Upstream[]>();

  function candidates(host: string): readonly Upstream[] {
    let found = remembered.get(host);
    if (found === undefined) {
      found = ranked(upstreams, bareHost(host));
      if (remembered.size >= mostRemembered) remembered.clear();
      remembered.set(host, found);
    }
    return found;
  }

  return (host, path) => {
    const those = candidates(host);
    const [first] = those;
    if (first === undefined || first.path === "/") return first;
    const readings = readingsFor(path, those);
    if (readings === undefined) return inDoubt;
    const serving = (reading: string): Upstream | undefined =>
      those.find((upstream) => isUnder(reading, upstream.path));
    const found = serving(readings[0] as string);
    return readings.every((reading) => serving(reading) === found) ? found : inDoubt;
  };
}

/**
 * Of a path too long to be read in every way the head tells, if nothing behind it climbs and every reading of it is longer than
 * what upstreams are told apart by. Undefined: it may be any path.
 */
function readingsFor(target: string, upstreams: readonly Routed[]): readonly string[] | undefined {
  const readings = pathReadings(target);
  if (readings !== unreadable) return readings;
  const path = pathOf(target);
  if (/(?:\.|%2e){2}|%00/i.test(path)) return undefined;
  const heads = pathReadings(path.slice(0, readableHead));
  const longest = Math.max(...upstreams.map((each) => each.path.length));
  return heads.every(({ length }) => length > longest + longestEscape) ? heads : undefined;
}

/** As much of a path as is read in every way. */
const readableHead = 1024;
/** Where the head ends, a character may be cut. */
const longestEscape = "%E2%82%AC".length;

function ranked<Upstream extends Routed>(upstreams: readonly Upstream[], host: string): Upstream[] {
  return upstreams
    .map((upstream) => ({ upstream, rank: rankOf(upstream.hosts, host) }))
    .filter(({ rank }) => rank > none)
    .sort((a, b) => b.rank - a.rank || b.upstream.path.length - a.upstream.path.length)
    .map(({ upstream }) => upstream);
}

/** How closely a list of hosts names this one. */
function rankOf(hosts: readonly string[], host: string): number {
  if (hosts.length === 0) return anyHost;
  return Math.max(...hosts.map((each) => closeness(each.toLowerCase(), host)));
}

function closeness(pattern: string, host: string): number {
  if (pattern === host) return sameHost;
  if (pattern.startsWith("*.") && host.length > pattern.length - 1 && host.endsWith(pattern.slice(1))) {
    return belowHost + pattern.length;
  }
  return none;
}

function bareHost(host: string): string {
  const name = host.toLowerCase().replace(/:\d+$/, "");
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

function isUnder(path: string, base: string): boolean {
  if (base === "/") return true;
  const folder = base.endsWith("/") ? base.slice(0, -1) : base;
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === "/");
}
