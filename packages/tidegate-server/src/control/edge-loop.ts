import type { Registry } from "prom-client";
import type { Clock } from "tidegate";
import type { ControlDesk } from "../control-desk.js";
import type { Edge } from "../edge.js";
import type { Log } from "../log.js";
import type { ControlSettings } from "../settings.js";
import { overlapTest } from "./address-overlap.js";
import { openAdoption } from "./adoption.js";
import { controlDesk, type DeskOptions, type EdgeElsewhere } from "./control-desk.js";
import { dryRun } from "./dry-run.js";
import type { LoopData } from "./edge-facts.js";
import { type EdgeKeeper, openEdgeKeeper } from "./edge-keeper.js";
import { edgeMeters } from "./edge-meters.js";
import { type KeeperTerms, usualTerms } from "./keeper-terms.js";
import { memo } from "./memo.js";
import type { SparedBy } from "./standings.js";

/** Everybody who is held, at every edge, and nobody else: looked after by one process for each edge. */
export interface EdgeLoop {
  readonly desk: ControlDesk;
  /** Something changed: looks at once. */
  wake(): void;
  /** Leaves the edges as they are: entries end by themselves. The edges are not closed. */
  close(): Promise<void>;
}

export interface EdgeLoopOptions extends Pick<DeskOptions, "keysOf" | "forget"> {
  /** None: this process keeps no edge, and knows of them what others report. */
  readonly edges: readonly OpenEdge[];
  /** Edges there are in other processes, those of this one among them. */
  readonly elsewhere?: readonly (Omit<EdgeElsewhere, "dryRun"> & {
    /** Opens it to be read. */
    readonly open?: (() => Promise<Edge>) | undefined;
  })[];
  /** No file names the edges: those others reported of, or set, are all that is known. Default false. */
  readonly isUntold?: boolean;
  readonly settings: Pick<ControlSettings, "everyMs" | "holdOffMs" | "spare" | "guard">;
  readonly trustedProxies: readonly string[];
  /** Of an address or block: whether the safelist has it, or some of it. */
  readonly isSafelisted: (address: string) => boolean;
  readonly data: LoopData;
  readonly log: Log;
  readonly registry: Registry;
  /** This process, by a name no other one has. */
  readonly holder: string;
  readonly clock?: Clock;
  /** Default one that nobody sets. */
  readonly steady?: () => number;
  /** For tests. */
  readonly terms?: Partial<KeeperTerms>;
}

export interface OpenEdge {
  readonly kind: string;
  readonly edge: Edge;
}

export function openEdgeLoop(options: EdgeLoopOptions): EdgeLoop {
  const { settings, data, log, registry, holder, clock = Date.now } = options;
  const { steady = () => performance.now() } = options;
  const terms = { ...usualTerms, ...options.terms };
  const isTrusted = memo(overlapTest(options.trustedProxies));
  const isSpare = memo(overlapTest(settings.spare));
  const sparedBy: SparedBy = (address) => {
    if (isTrusted(address)) return "trustedProxies";
    if (isSpare(address)) return "control.spare";
    return options.isSafelisted(address) ? "safelist" : undefined;
  };
  const isSpared = (address: string): boolean => sparedBy(address) !== undefined;
  const keepers: EdgeKeeper[] = [];
  const meters = edgeMeters(registry, () =>
    keepers.map((keeper) => ({ ...keeper.status(), isKept: keeper.isKept })),
  );
  const adoption = openAdoption({
    edges: options.edges.map(({ edge }) => edge),
    data,
    log,
    clock,
    readMs: terms.readMs,
    patienceMs: terms.patienceMs,
    onDone: wake,
  });
  for (const { edge } of options.edges) meters.opened(edge.name);
  for (const { edge, kind } of options.edges)
    keepers.push(
      openEdgeKeeper({
        edge,
        kind,
        settings,
        data,
        isSpared,
        onIncomplete: adoption.begin,
        meters,
        log,
        holder,
        clock,
        steady,
        terms,
      }),
    );

  function wake(): void {
    for (const keeper of keepers) keeper.wake();
  }

  const stops = [data.offenders.watch(wake), data.edgeBook.watch(wake)];
  const { keysOf, forget, isUntold = false } = options;
  const { holdOffMs, everyMs } = settings;
  const { readMs } = terms;
  const elsewhere = (options.elsewhere ?? []).map(({ open, ...each }): EdgeElsewhere => {
    if (open === undefined) return each;
    const facts = { name: each.edge, open, data, isSpared, everyMs, readMs, clock };
    return { ...each, dryRun: () => dryRun(facts) };
  });
  return {
    desk: controlDesk({ keepers, elsewhere, isUntold, data, holdOffMs, keysOf, forget, sparedBy, clock }),
    wake,
    async close() {
      for (const stop of stops) stop();
      await adoption.close();
      await Promise.all(keepers.map((keeper) => keeper.close()));
    },
  };
}
