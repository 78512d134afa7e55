import type { ControlDesk, EdgeStatus } from "../control-desk.js";
import type { Data } from "../data.js";
import type { Offender } from "../offenders.js";
import type { RatesEvent, StoreEvent } from "./events.js";
import type { LiveSeries } from "./live.js";
import type { Look } from "./look.js";
import { type BusyClient, type Row, type Series, stepMs } from "./series.js";

export interface LiveSources {
  readonly series?: LiveSeries;
  readonly desk?: Pick<ControlDesk, "edges" | "offenders">;
  /** Offenders as people are told of them. */
  readonly told: (offenders: readonly Offender[]) => Promise<readonly unknown[]>;
  readonly data: Pick<Data, "kind" | "audit" | "offenders" | "edgeBook">;
  /** How what meets traffic is, with so many of the busiest clients. */
  readonly state: (most: number) => Promise<{
    readonly metrics: { readonly degraded: boolean };
    readonly busiest: readonly BusyClient[];
  }>;
  readonly store: { readonly kind: string; watch?(wake: () => void): () => void };
  readonly policy: () => { readonly version: number };
}

/** Who comes first is told a little of what was before. */
const secondsAtOnce = 5;
const mostBusy = 20;
const mostHeld = 20;

/** All that is looked at while somebody listens; the audit has a way of its own. */
export function looks(sources: LiveSources, isReachable: () => boolean): readonly Look[] {
  const { series, desk, data } = sources;
  return [
    ...(series === undefined ? [] : [rates(series)]),
    {
      event: "busiest",
      everySeconds: 2,
      look: async () => [{ clients: (await sources.state(mostBusy)).busiest }],
    },
    store(sources, isReachable),
    {
      event: "policy",
      everySeconds: 1,
      look: async () => [sources.policy()],
      unlessSame: (status) => status,
    },
    ...(desk === undefined ? [] : [held(desk, sources), edges(desk, data)]),
  ] as readonly Look[];
}

function rates({ read }: LiveSeries): Look<"rates"> {
  let last = 0;
  return {
    event: "rates",
    everySeconds: 1,
    async look() {
      const told = ratesOf(await read(secondsAtOnce)).filter(({ at }) => at > last);
      last = told.at(-1)?.at ?? last;
      return told;
    },
  };
}

function ratesOf({ from, totals, rules }: Series): RatesEvent[] {
  return totals.allowed.map((_, i) => ({
    at: from + i * stepMs,
    stepMs,
    totals: at(totals, i),
    rules: Object.fromEntries(
      Object.entries(rules).flatMap(([rule, rows]) => {
        const numbers = at(rows, i);
        return Object.values(numbers).some((number) => number > 0) ? [[rule, numbers]] : [];
      }),
    ),
  }));
}

function at<Name extends string>(rows: Readonly<Record<Name, Row>>, i: number): Record<Name, number> {
  return Object.fromEntries(Object.entries<Row>(rows).map(([name, row]) => [name, row[i] ?? 0])) as Record<
    Name,
    number
  >;
}

function store(
  { store: { kind, watch }, state, data }: LiveSources,
  isReachable: () => boolean,
): Look<"store"> {
  return {
    event: "store",
    everySeconds: 1,
    async look() {
      const { degraded } = (await state(0)).metrics;
      const told: StoreEvent = {
        kind,
        isDegraded: degraded,
        data: { kind: data.kind, isReachable: isReachable() },
      };
      return [told];
    },
    unlessSame: (told) => told,
    ...(watch && { watch }),
  };
}

function held(
  { offenders }: Pick<ControlDesk, "offenders">,
  { told, data }: Pick<LiveSources, "told" | "data">,
): Look<"held"> {
  return {
    event: "held",
    // Holds end without a word; in a flood there are many.
    everySeconds: 2,
    leastGapMs: 1000,
    async look() {
      const all = await offenders();
      const newest = [...all].sort((one, other) => other.crossedAt - one.crossedAt).slice(0, mostHeld);
      return [{ count: all.length, newest: await told(newest) }];
    },
    unlessSame: (event) => event,
    watch: (wake) => data.offenders.watch(wake),
  };
}

function edges(desk: Pick<ControlDesk, "edges">, { edgeBook }: Pick<Data, "edgeBook">): Look<"edges"> {
  return {
    event: "edges",
    everySeconds: 2,
    look: async () => [{ edges: await desk.edges() }],
    unlessSame: (event) => event.edges.map(({ readAt: _, ...rest }: EdgeStatus) => rest),
    watch: (wake) => edgeBook.watch(wake),
  };
}
