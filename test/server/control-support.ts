import { createHash } from "node:crypto";
import { Registry } from "prom-client";
import { onTestFinished, vi } from "vitest";
import type { LoopData } from "../../packages/tidegate-server/src/control/edge-facts.js";
import {
  type EdgeLoop,
  type EdgeLoopOptions,
  openEdgeLoop,
} from "../../packages/tidegate-server/src/control/edge-loop.js";
import { memoryLeases } from "../../packages/tidegate-server/src/data/embedded/memory-leases.js";
import { memoryOffenders } from "../../packages/tidegate-server/src/data/embedded/memory-offenders.js";
import type { ClearedKey, EdgeBook, SetMode } from "../../packages/tidegate-server/src/data.js";
import type { Edge } from "../../packages/tidegate-server/src/edge.js";
import {
  type MemoryTable,
  memoryEdge,
  memoryTable,
} from "../../packages/tidegate-server/src/edges/memory/memory-edge.js";
import type { Log } from "../../packages/tidegate-server/src/log.js";
import type { Offender, Offenders } from "../../packages/tidegate-server/src/offenders.js";

/** Real time, which a test may move on. */
export interface ShiftedClock {
  (): number;
  shift(ms: number): void;
  /** Somebody sets the clock: no time passes. */
  set(ms: number): void;
  /** One that nobody sets. */
  steady(): number;
}

export function shiftedClock(): ShiftedClock {
  let shifted = 0;
  let wrong = 0;
  return Object.assign(() => Date.now() + shifted + wrong, {
    shift(ms: number) {
      shifted += ms;
    },
    set(ms: number) {
      wrong += ms;
    },
    steady: () => performance.now() + shifted,
  });
}

/** What control needs of the data, in this process, as several loops share it. */
export interface TestData extends LoopData {
  /** As if Redis had lost everything. */
  lose(): void;
}

export function testData(clock: () => number, most = 100_000): TestData {
  const modes = new Map<string, SetMode>();
  const clears = new Map<string, ClearedKey>();
  const reports = new Map<string, unknown>();
  const stops = new Map<string, unknown>();
  const watchers = new Set<() => void>();
  let held = memoryOffenders({ now: clock, most });
  const tell = (): void => {
    for (const watcher of watchers) watcher();
  };
  const watch = (listener: () => void): (() => void) => {
    const own = () => listener();
    watchers.add(own);
    return () => void watchers.delete(own);
  };
  held.watch(tell);
  const offenders: Offenders = {
    add: (offender) => held.add(offender),
    now: () => held.now(),
    remove: (keys) => held.remove(keys),
    watch,
    isComplete: () => held.isComplete(),
    markComplete: () => held.markComplete(),
    dropped: () => held.dropped(),
  };
  const edgeBook: EdgeBook = {
    modes: async () => new Map(modes),
    async setMode(edge, mode) {
      const set = { ...mode, at: clock() };
      modes.set(edge, set);
      tell();
      return set;
    },
    clears: async () => [...clears.values()].filter(({ until }) => until > clock()),
    async addClears(keys, terms) {
      for (const key of keys) clears.set(key, { key, ...terms, at: clock() });
      tell();
    },
    stops: async () => new Map(stops),
    async setStop(edge, stop) {
      if (stop === undefined) stops.delete(edge);
      else stops.set(edge, JSON.parse(JSON.stringify(stop)));
    },
    reports: async () => new Map(reports),
    async report(edge, report) {
      reports.set(edge, JSON.parse(JSON.stringify(report)));
    },
    watch,
  };
  return {
    offenders,
    edgeBook,
    leases: memoryLeases(),
    lose() {
      for (const map of [modes, clears, reports, stops]) map.clear();
      held.close();
      held = memoryOffenders({ now: clock, most });
      held.watch(tell);
    },
  };
}

export interface LogLine {
  readonly level: string;
  readonly words: string;
  readonly facts: Record<string, unknown>;
}

export function testLog(): Log & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: string) => (facts: Record<string, unknown>, words: string) =>
    void lines.push({ level, words, facts });
  return {
    lines,
    ...Object.fromEntries(["trace", "debug", "info", "warn", "error"].map((l) => [l, at(l)])),
  } as never;
}

/** One loop on one edge in memory. Whatever is not said is as usual, only faster. */
export interface ControlRig {
  readonly clock: ShiftedClock;
  readonly data: LoopData;
  /** As if the data had lost everything. */
  lose(): void;
  readonly table: MemoryTable;
  readonly log: ReturnType<typeof testLog>;
  readonly registry: Registry;
  readonly loop: EdgeLoop;
  /** Ours at the edge, read without the adapter: key to `until` in ms. */
  standing(): Map<string, number>;
}

export interface RigOptions extends Partial<Omit<EdgeLoopOptions, "data" | "clock" | "settings">> {
  readonly clock?: ShiftedClock;
  readonly data?: LoopData;
  readonly table?: MemoryTable;
  readonly maxEntries?: number;
  readonly settings?: Partial<EdgeLoopOptions["settings"]>;
  /** The edge is kept by other processes only. */
  readonly withoutEdges?: boolean;
  /** Stands between the loop and the edge. */
  readonly through?: (edge: Edge) => Edge;
}

export function controlRig(options: RigOptions = {}): ControlRig {
  const { clock = shiftedClock(), table = memoryTable(), maxEntries = 100_000, through } = options;
  const own = testData(clock);
  const { data = own, settings, terms, withoutEdges = false, ...rest } = options;
  const log = testLog();
  const registry = new Registry();
  const edge = memoryEdge({ name: "front", maxEntries, table }, clock);
  const loop = openEdgeLoop({
    edges: withoutEdges ? [] : [{ kind: "memory", edge: through?.(edge) ?? edge }],
    elsewhere: [
      { edge: "front", kind: "memory", maxEntries, open: withoutEdges ? undefined : async () => edge },
    ],
    settings: {
      everyMs: 50,
      holdOffMs: 600_000,
      spare: ["private"],
      guard: { newPerMinute: 100_000, share: 1 },
      ...settings,
    },
    trustedProxies: [],
    isSafelisted: () => false,
    keysOf: () => [],
    forget: async () => {},
    data,
    log,
    registry,
    holder: `process ${Math.random()}`,
    clock,
    steady: clock.steady,
    terms: { backoffMs: 5, longestBackoffMs: 50, retryMs: 20, reportMs: 10, patienceMs: 200, ...terms },
    ...rest,
  });
  const standing = (): Map<string, number> => {
    const ours = [...table.items].filter(([, value]) => /^\d+$/.test(value));
    const entries = ours.map(([key, end]): [string, number] => [key, Number(end) * 1_000]);
    return new Map(entries.filter(([, until]) => until > clock()));
  };
  return { clock, data, lose: own.lose, table, log, registry, loop, standing };
}

export function wipeTable(table: MemoryTable): void {
  table.items.clear();
  table.mode = undefined;
  table.epoch = String(Math.random());
}

export function digestOf(text: string | number): string {
  return createHash("sha256").update(String(text)).digest("hex");
}

export function offenderOf(key: string, facts: Partial<Offender> & { readonly until: number }): Offender {
  return {
    key,
    rule: "edge/standard",
    crossedAt: Date.now(),
    score: 2,
    leaked: 0,
    edges: [],
    about: {},
    ...facts,
  };
}

/** `controlRig`, until the test is over. */
export function open(options: RigOptions = {}): ControlRig {
  const rig = controlRig(options);
  onTestFinished(() => rig.loop.close());
  return rig;
}

export const soon = (check: () => unknown): Promise<unknown> =>
  vi.waitFor(check, { timeout: 15_000, interval: 5 });

export const statusOf = async ({ loop }: ControlRig) => (await loop.desk.edges())[0];

export const keysOf = ({ standing }: ControlRig): string[] => [...standing().keys()].sort();
