import { setTimeout as sleep } from "node:timers/promises";
import type { Clock, Subject } from "tidegate";
import { canonicalBlock } from "tidegate/http";
import type { ControlDesk, EdgeStatus, SyncReport } from "../control-desk.js";
import type { ClearedKey, SetMode } from "../data.js";
import { isAddressKey, isEdgeKey } from "../edge.js";
import type { Offender } from "../offenders.js";
import { overlapTest } from "./address-overlap.js";
import type { LoopData } from "./edge-facts.js";
import type { EdgeKeeper } from "./edge-keeper.js";
import { leaseOf } from "./edge-lease.js";
import { readReport } from "./status-reporter.js";

export interface DeskOptions {
  readonly keepers: readonly EdgeKeeper[];
  /** Edges that are kept by other processes only. */
  readonly elsewhere: readonly EdgeElsewhere[];
  readonly data: LoopData;
  readonly holdOffMs: number;
  /** Every key this client may stand under: its address, its block, its fingerprints. */
  readonly keysOf: (subject: Partial<Subject>) => readonly string[];
  /** Drops what was counted of them, so that their next request does not hold them again. */
  readonly forget: (offenders: readonly Offender[]) => Promise<void>;
  readonly clock: Clock;
}

export interface EdgeElsewhere extends Pick<EdgeStatus, "edge" | "kind" | "maxEntries"> {
  /** Undefined: it can not even be read from here. */
  readonly dryRun?: () => Promise<SyncReport>;
}

/** Nobody waits longer for the edges; they are told all the same. */
const patienceMs = 3_000;

const unreadable = "this process does not reach the edge: ask a server that keeps it";
const forsaken = "nobody keeps this edge now: a server that has it in its file sets it right once it runs";

/** In any process: what it does not keep itself it knows from whoever does. */
export function controlDesk(options: DeskOptions): ControlDesk {
  const { keepers, elsewhere, data, holdOffMs, keysOf, forget, clock } = options;
  const { offenders, edgeBook, leases } = data;

  async function edges(): Promise<EdgeStatus[]> {
    const [modes, reports] = await Promise.all([edgeBook.modes(), edgeBook.reports()]);
    const own = keepers.map((keeper): EdgeStatus => {
      if (keeper.isKept) return keeper.status();
      return reported(reports.get(keeper.edge.name)) ?? unseen(keeper.status());
    });
    const others = elsewhere
      .filter(({ edge }) => !keepers.some((keeper) => keeper.edge.name === edge))
      .map((edge): EdgeStatus => reported(reports.get(edge.edge)) ?? unseen(edge));
    return [...own, ...others].map((status) => withMode(status, modes.get(status.edge)));
  }

  async function find(subject: Partial<Subject>): Promise<Offender[]> {
    const isThis = offenderTest(subject, new Set(keysOf(subject)));
    return (await offenders.now()).filter(isThis);
  }

  async function clears(subject: Partial<Subject>): Promise<ClearedKey[]> {
    const isThis = keyTestOf(subject, new Set(keysOf(subject)));
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

  async function syncOne(keeper: EdgeKeeper, isDryRun: boolean): Promise<SyncReport> {
    if (isDryRun) return keeper.dryRun();
    if (!keeper.isKept) await keeper.settle();
    if (keeper.isKept) return keeper.sync();
    const { keeper: who = "another process" } =
      (await edges()).find(({ edge }) => edge === keeper.edge.name) ?? {};
    const plan = await keeper.dryRun();
    return { ...plan, problem: `${who} keeps this edge, and sets it right at its next look` };
  }

  async function syncElsewhere({ edge, dryRun }: EdgeElsewhere, isDryRun: boolean): Promise<SyncReport> {
    if (isDryRun && dryRun !== undefined) return dryRun();
    const keeper = isDryRun ? undefined : await leases.holder(leaseOf(edge));
    const rest = keeper === undefined ? { problem: isDryRun ? unreadable : forsaken } : { keeper };
    return { edge, put: [], remove: [], isDryRun, ...rest };
  }

  return {
    edges,
    async setMode(edge, mode, by) {
      if (!(await edges()).some((status) => status.edge === edge)) return undefined;
      await edgeBook.setMode(edge, { mode, ...by });
      await settled();
      return (await edges()).find((status) => status.edge === edge);
    },
    async sync({ edge, isDryRun }) {
      const asked = keepers.filter((keeper) => edge === undefined || keeper.edge.name === edge);
      const others = elsewhere.filter((each) => edge === undefined || each.edge === edge);
      const away = others.filter((each) => !asked.some((keeper) => keeper.edge.name === each.edge));
      if (edge !== undefined && asked.length + away.length === 0) return undefined;
      return Promise.all([
        ...asked.map((keeper) => syncOne(keeper, isDryRun)),
        ...away.map((each) => syncElsewhere(each, isDryRun)),
      ]);
    },
    offenders: () => offenders.now(),
    find,
    clears,
    async clear(subject, { who }) {
      const found = await find(subject);
      const keys = [...new Set([...found.map(({ key }) => key), ...keysOf(subject)])].filter(isEdgeKey);
      if (keys.length === 0) return [];
      // Noted first: whatever holds them again meanwhile goes to no edge.
      await edgeBook.addClears(keys, { until: clock() + holdOffMs, who });
      const removed = await offenders.remove(keys);
      await forget(removed.length > 0 ? removed : found);
      await settled();
      return removed.length > 0 ? removed : found;
    },
  };
}

/** Of this client: by a key of its own, by its address, or by a block it is in. */
function offenderTest(subject: Partial<Subject>, keys: ReadonlySet<string>): (offender: Offender) => boolean {
  const isThis = keyTestOf(subject, keys);
  return ({ key, about }) => isThis(key) || (about.ip !== undefined && isThis(about.ip));
}

function keyTestOf(subject: Partial<Subject>, keys: ReadonlySet<string>): (key: string) => boolean {
  const address = subject.ip === undefined ? undefined : canonicalBlock(subject.ip);
  const isAddress = address === undefined || address.endsWith("/0") ? () => false : overlapTest([address]);
  return (key) => keys.has(key) || (isAddressKey(key) && isAddress(key));
}

function reported(written: unknown): EdgeStatus | undefined {
  const report = readReport(written);
  if (report === undefined) return undefined;
  const { stop: _, ...status } = report;
  return status;
}

/** Nobody has said anything of it yet. */
function unseen({ edge, kind, maxEntries }: Pick<EdgeStatus, "edge" | "kind" | "maxEntries">): EdgeStatus {
  return { edge, kind, mode: "on", maxEntries, quarantined: [], evicted: 0, unknowable: 0, alarms: [] };
}

function withMode(status: EdgeStatus, set: SetMode | undefined): EdgeStatus {
  const { setBy: _, ...rest } = status;
  if (set === undefined) return { ...rest, mode: "on" };
  const { mode, who, why, at } = set;
  return { ...rest, mode, setBy: { who, at, ...(why !== undefined && { why }) } };
}
