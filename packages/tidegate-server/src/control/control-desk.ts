import { setTimeout as sleep } from "node:timers/promises";
import type { Clock, Subject } from "tidegate";
import { canonicalBlock } from "tidegate/http";
import type { ControlDesk, EdgeStanding, EdgeStatus, Meant, SyncReport } from "../control-desk.js";
import type { ClearedKey } from "../data.js";
import { isAddressKey, isDigestKey, isEdgeKey } from "../edge.js";
import type { Offender } from "../offenders.js";
import { overlapTest } from "./address-overlap.js";
import type { LoopData } from "./edge-facts.js";
import type { EdgeKeeper } from "./edge-keeper.js";
import { leaseOf } from "./edge-lease.js";
import { type EdgeNamed, type SeenEdge, seenEdges } from "./seen-edges.js";
import { type SparedBy, standingsAt } from "./standings.js";

export interface DeskOptions {
  readonly keepers: readonly EdgeKeeper[];
  /** Edges there are in other processes, those of this one among them. */
  readonly elsewhere: readonly EdgeElsewhere[];
  /** No file names the edges: those others reported of, or set, are all that is known. */
  readonly isUntold: boolean;
  readonly data: LoopData;
  readonly holdOffMs: number;
  /** Every key this client may stand under: its address, its block, its fingerprints. */
  readonly keysOf: (subject: Partial<Subject>) => readonly string[];
  /** Drops what was counted of them, so that their next request does not hold them again. */
  readonly forget: (offenders: readonly Offender[]) => Promise<void>;
  readonly sparedBy: SparedBy;
  readonly clock: Clock;
}

export interface EdgeElsewhere extends EdgeNamed {
  /** Undefined: it can not even be read from here. */
  readonly dryRun?: () => Promise<SyncReport>;
}

/** Nobody waits longer for the edges; they are told all the same. */
const patienceMs = 3_000;
const askAgainMs = 100;

const unreadable = "this process can not read the edge: ask the server that keeps it";
const forsaken = "nobody keeps this edge now: a server that has it in its file sets it right once it runs";

/** In any process: what it does not keep itself it knows from whoever does. */
export function controlDesk(options: DeskOptions): ControlDesk {
  const { keepers, elsewhere, isUntold, data, holdOffMs, keysOf, forget, sparedBy, clock } = options;
  const { offenders, edgeBook, leases } = data;
  const seen = seenEdges({ keepers, elsewhere, isUntold, data });

  async function edges(): Promise<EdgeStatus[]> {
    return (await seen()).map(({ status }) => status);
  }

  async function edgeOf(name: string): Promise<EdgeStatus | undefined> {
    return (await edges()).find(({ edge }) => edge === name);
  }

  async function find(client: Meant): Promise<Offender[]> {
    const isThis = offenderTest(client, new Set(keysMeant(client)));
    return (await offenders.now()).filter(isThis);
  }

  function keysMeant(client: Meant): readonly string[] {
    return client.key === undefined ? keysOf(client) : [client.key];
  }

  async function standings(asked: readonly Offender[]): Promise<EdgeStanding[][]> {
    if (asked.length === 0) return [];
    const [all, held, cleared] = await Promise.all([seen(), offenders.now(), edgeBook.clears()]);
    const facts = { offenders: held, clears: cleared, sparedBy, now: clock() };
    const tell = all.map((edge) => standingsAt(edge, facts));
    return asked.map((offender) => tell.flatMap((standing) => standing(offender) ?? []));
  }

  async function clears(client: Meant): Promise<ClearedKey[]> {
    const isThis = keyTestOf(client, new Set(keysMeant(client)));
    const now = clock();
    return (await edgeBook.clears()).filter(({ key, until }) => until > now && isThis(key));
  }

  /** Until the edges this process keeps have been told, if that does not take too long. */
  async function settled(): Promise<void> {
    const patience = new AbortController();
    const all = Promise.all(keepers.map((keeper) => keeper.settle()));
    await Promise.race([all, sleep(patienceMs, undefined, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
  }

  /** Until an edge another process keeps has been told, or nobody is there to do so. */
  async function appliedAt(name: string): Promise<EdgeStatus | undefined> {
    const giveUpAt = performance.now() + patienceMs;
    for (;;) {
      const status = await edgeOf(name);
      const isOwn = keepers.some(({ edge, isKept }) => isKept && edge.name === name);
      if (status === undefined || status.applied || status.state === "nobody keeps it" || isOwn)
        return status;
      if (performance.now() >= giveUpAt) return status;
      await sleep(askAgainMs);
    }
  }

  /** Until edges other processes keep have heard that these are cleared, as far as they are reached. */
  async function heardOf(cleared: readonly Offender[], at: number): Promise<void> {
    const giveUpAt = performance.now() + patienceMs;
    const waitsFor = ({ status: { state }, knows, hasHeard }: SeenEdge): boolean =>
      (state === "in step" || state === "behind") &&
      cleared.some(({ key }) => knows(key) && !hasHeard(key, at));
    while (cleared.length > 0 && performance.now() < giveUpAt && (await seen()).some(waitsFor))
      await sleep(askAgainMs);
  }

  async function syncOne(keeper: EdgeKeeper, isDryRun: boolean): Promise<SyncReport> {
    if (!keeper.isKept) await keeper.settle();
    if (keeper.isKept) return isDryRun ? keeper.dryRun() : keeper.sync();
    const { name } = keeper.edge;
    const report = await syncElsewhere(
      elsewhere.find(({ edge }) => edge === name) ?? { edge: name },
      isDryRun,
    );
    if (isDryRun || report.keeper === undefined) return report;
    return { ...report, problem: `${report.keeper} keeps this edge, and sets it right at its next look` };
  }

  async function syncElsewhere(
    { edge, dryRun }: Pick<EdgeElsewhere, "edge" | "dryRun">,
    isDryRun: boolean,
  ): Promise<SyncReport> {
    const holder = await leases.holder(leaseOf(edge));
    const keeper = holder === undefined ? {} : { keeper: holder };
    if (isDryRun && dryRun !== undefined) return { ...(await dryRun()), ...keeper };
    const problem = isDryRun ? { problem: unreadable } : holder === undefined ? { problem: forsaken } : {};
    return { edge, put: [], remove: [], isDryRun, ...keeper, ...problem };
  }

  return {
    edges,
    async setMode(edge, mode, by) {
      if ((await edgeOf(edge)) === undefined) return undefined;
      await edgeBook.setMode(edge, { mode, ...by });
      await settled();
      return appliedAt(edge);
    },
    async sync({ edge, isDryRun }) {
      const asked = keepers.filter((keeper) => edge === undefined || keeper.edge.name === edge);
      const named = isUntold ? await edges() : elsewhere;
      const others = named.filter((each) => edge === undefined || each.edge === edge);
      const away = others.filter((each) => !asked.some((keeper) => keeper.edge.name === each.edge));
      if (edge !== undefined && asked.length + away.length === 0) return undefined;
      return Promise.all([
        ...asked.map((keeper) => syncOne(keeper, isDryRun)),
        ...away.map((each) => syncElsewhere(each, isDryRun)),
      ]);
    },
    offenders: () => offenders.now(),
    find,
    meets(subject, found) {
      const keys = new Set(keysOf(subject));
      const hasDigests = [...keys].some(isDigestKey);
      return found.filter(({ key }) => !hasDigests || !isDigestKey(key) || keys.has(key));
    },
    standings,
    clears,
    async clear(client, { who }) {
      const found = await find(client);
      const meant = keysMeant(client).filter(isEdgeKey);
      const keys = [...new Set([...found.map(({ key }) => key), ...meant])].filter(isEdgeKey);
      if (keys.length === 0) return [];
      const until = clock() + holdOffMs;
      // Noted first: whatever holds them again meanwhile goes to no edge.
      await edgeBook.addClears(keys, { until, who });
      if (client.key === undefined)
        await edgeBook.addClears(meant.filter(isAddressKey), { until, who, isClient: true });
      const removed = await offenders.remove(keys);
      const cleared = removed.length > 0 ? removed : found;
      await forget(cleared);
      await settled();
      await heardOf(cleared, clock());
      return cleared;
    },
  };
}

/** Of this client: by a key of its own, by its address, or by a block it is in. */
function offenderTest(subject: Meant, keys: ReadonlySet<string>): (offender: Offender) => boolean {
  const isThis = keyTestOf(subject, keys);
  return ({ key, about }) => isThis(key) || (about.ip !== undefined && isThis(about.ip));
}

function keyTestOf(subject: Meant, keys: ReadonlySet<string>): (key: string) => boolean {
  const address = subject.ip === undefined ? undefined : canonicalBlock(subject.ip);
  const isAddress = address === undefined || address.endsWith("/0") ? () => false : overlapTest([address]);
  return (key) => keys.has(key) || (isAddressKey(key) && isAddress(key));
}
