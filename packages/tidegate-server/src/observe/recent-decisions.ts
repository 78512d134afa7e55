import type { Decision, Gate, GateEvents } from "tidegate";
import { peerTest } from "tidegate/http";
import type { ClientFilter, Refusal, RefusalFacts, RefusedClient, RefusedRequest } from "../refusal.js";
import { accountOf, cut, cutIf, pathOf } from "./kept-facts.js";

/** The newest refusals of one gate, by the ids their clients were told. Bounded, oldest out first. */
export interface RecentDecisions {
  /** Undefined: it was allowed, is not of this gate, or is no longer remembered. Looks through all of them. */
  find(id: string): Refusal | undefined;
  /** Whose they are, by address. Looks through all of them. */
  clients(filter: ClientFilter): RefusedClient[];
  close(): void;
}

export interface RecentDecisionsOptions {
  /** Default 10,000. */
  readonly most?: number;
  /** About so many, of all together. Default 16 MiB. */
  readonly mostBytes?: number;
}

/** What is there already, and the facts of a request that is soon gone. A flood pays for this, so the rest is done when asked. */
interface Remembered {
  readonly at: number;
  readonly decision: Decision;
  readonly ip: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly userAgent: string | undefined;
  readonly user: string | undefined;
  readonly customer: string | undefined;
  readonly account: string | undefined;
  /** Roughly what it keeps in memory. */
  readonly bytes: number;
}

/** Of one client. */
const mostLately = 50;

export function recentDecisions(
  gate: Pick<Gate, "on">,
  options: RecentDecisionsOptions = {},
): RecentDecisions {
  const { most = 10_000, mostBytes = 16 * 1024 * 1024 } = options;
  // A ring: a map would cost every refusal more than all else here, for the sake of a question a day.
  const ring = new Array<Remembered | undefined>(most);
  let first = 0;
  let count = 0;
  let bytes = 0;

  function dropFirst(): void {
    bytes -= ring[first]?.bytes ?? 0;
    ring[first] = undefined;
    first = (first + 1) % most;
    count--;
  }

  const stop = gate.on("refused", (event) => {
    const remembered = rememberedOf(event);
    if (count === most) dropFirst();
    ring[(first + count) % most] = remembered;
    count++;
    bytes += remembered.bytes;
    while (bytes > mostBytes && count > 1) dropFirst();
  });
  return {
    find(id) {
      const found = ring.find((each) => each?.decision.id === id);
      return found && refusalOf(found);
    },
    clients(filter) {
      const isMeant = refusalTest(filter);
      const found = new Map<string, { refused: number; lately: Map<string, Remembered> }>();
      for (let i = 0; i < count; i++) {
        const each = ring[(first + i) % most];
        if (each === undefined || !isMeant(each)) continue;
        const known = found.get(each.ip) ?? { refused: 0, lately: new Map() };
        known.refused++;
        keepNewest(known.lately, each);
        found.set(each.ip, known);
      }
      return [...found].map(([ip, { refused, lately }]) => {
        const newestFirst = [...lately.values()].reverse().map((each) => {
          const { at, about } = refusalOf(each);
          return { at, about };
        });
        const { at, about } = newestFirst[0] as RefusedRequest;
        return { ip, refused, at, about, lately: newestFirst };
      });
    },
    close() {
      stop();
      ring.fill(undefined);
    },
  };
}

/** One that was asked before in the same words takes its place, as the newest. */
function keepNewest(lately: Map<string, Remembered>, request: Remembered): void {
  const { method, host, path, userAgent, user, customer, account } = request;
  const said = JSON.stringify([method, host, path, userAgent, user, customer, account]);
  lately.delete(said);
  lately.set(said, request);
  if (lately.size > mostLately) lately.delete(lately.keys().next().value as string);
}

function refusalTest({ within, key }: ClientFilter): (remembered: Remembered) => boolean {
  const single = new Set(within?.filter((each) => !each.includes("/")));
  const isInBlock = peerTest(within?.filter((each) => each.includes("/")) ?? []);
  const known = new Map<string, boolean>();
  function isWithin(ip: string): boolean {
    const before = known.get(ip);
    if (before !== undefined) return before;
    const is = single.has(ip) || isInBlock(ip);
    known.set(ip, is);
    return is;
  }
  return ({ ip, decision }) =>
    (within === undefined || isWithin(ip)) &&
    (key === undefined || decision.verdicts.some((verdict) => verdict.key === key));
}

/** Of headers only the user agent, of the path nothing behind the `?`: the rest may be secret. */
function rememberedOf({ subject, decision }: GateEvents["refused"]): Remembered {
  const { verdicts } = decision;
  const ip = cut(subject.ip);
  const method = cut(subject.method);
  const host = cut(subject.host);
  const path = pathOf(subject);
  const userAgent = cutIf(subject.header("user-agent"));
  const user = cutIf(subject.user);
  const customer = cutIf(subject.customer);
  const account = cutIf(accountOf(subject, decision));
  const told = method.length + host.length + path.length + (userAgent?.length ?? 0);
  const named = (user?.length ?? 0) + (customer?.length ?? 0) + (account?.length ?? 0);
  let bytes = 1_000 + 2 * (told + named);
  for (const { key } of verdicts) bytes += 250 + key.length;
  return { at: Date.now(), decision, ip, method, host, path, userAgent, user, customer, account, bytes };
}

function refusalOf({ at, decision, ...rest }: Remembered): Refusal {
  const { id, reason, verdict, verdicts, listed, source, delayedMs } = decision;
  const { ip, method, host, path, userAgent, user, customer, account } = rest;
  const about: RefusalFacts = {
    ip,
    method,
    host,
    path,
    ...(userAgent !== undefined && { userAgent }),
    ...(user !== undefined && { user }),
    ...(customer !== undefined && { customer }),
    ...(account !== undefined && { account }),
  };
  return {
    id,
    at,
    reason,
    ...(verdict && { verdict }),
    verdicts,
    ...(listed && { listed }),
    source,
    delayedMs,
    about,
  };
}
