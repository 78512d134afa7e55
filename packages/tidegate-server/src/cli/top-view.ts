import type { BusyKey, GateMetrics } from "tidegate";
import type { HeldClient, StatusAnswer } from "../api/types.js";
import type { EdgeStatus } from "../control-desk.js";
import type { LiveEvents, RatesEvent, StoreEvent } from "../live/events.js";
import type { ServerEvent } from "./event-stream.js";

/** What `top` knows, by events or by asking. */
export interface TopView {
  /** Why it is not live. */
  trouble: string | undefined;
  /** Of the last minute, oldest first. */
  rates: readonly RatesEvent[];
  busiest: readonly BusyKey[];
  held: { readonly count: number; readonly newest: readonly HeldClient[] } | undefined;
  edges: readonly EdgeStatus[];
  store: Pick<StoreEvent, "kind" | "isDegraded"> & Partial<StoreEvent>;
  policy: number | undefined;
}

export function topView(): TopView {
  return {
    trouble: undefined,
    rates: [],
    busiest: [],
    held: undefined,
    edges: [],
    store: { kind: "", isDegraded: false },
    policy: undefined,
  };
}

const kept = 60;

/** Takes in one event; those it does not show change nothing. */
export function heed(view: TopView, { event, data }: ServerEvent): void {
  const told = <Name extends keyof LiveEvents>(): LiveEvents[Name] => JSON.parse(data);
  switch (event) {
    case "rates":
      addRates(view, told<"rates">());
      break;
    case "busiest":
      view.busiest = told<"busiest">().clients;
      break;
    case "held":
      view.held = told<"held">() as TopView["held"];
      break;
    case "edges":
      view.edges = told<"edges">().edges;
      break;
    case "store":
      view.store = told<"store">();
      break;
    case "policy":
      view.policy = told<"policy">().version;
      break;
  }
}

/** Takes in what was asked for; rates are what was counted between two answers. */
export function heedStatus(
  view: TopView,
  { store, policy, metrics }: StatusAnswer,
  before?: { readonly at: number; readonly metrics: GateMetrics },
): void {
  view.store = store;
  view.policy = policy.version;
  if (before !== undefined) addRates(view, ratesBetween(before, { at: Date.now(), metrics }));
}

function addRates(view: TopView, rates: RatesEvent): void {
  view.rates = [...view.rates.filter(({ at }) => at < rates.at), rates].slice(-kept);
}

interface Counted {
  readonly at: number;
  readonly metrics: GateMetrics;
}

function ratesBetween(before: Counted, now: Counted): RatesEvent {
  const seconds = Math.max(0.001, (now.at - before.at) / 1000);
  const perSecond = (later: number, earlier = 0): number =>
    Math.max(0, Math.round((later - earlier) / seconds));
  const rules = Object.entries(now.metrics.byRule).map(([rule, counts]) => {
    const earlier = before.metrics.byRule[rule];
    return [
      rule,
      {
        judged: perSecond(counts.judged, earlier?.judged),
        refused: perSecond(counts.refused, earlier?.refused),
        shadow: perSecond(counts.shadowRefused, earlier?.shadowRefused),
        held: perSecond(counts.held, earlier?.held),
      },
    ] as const;
  });
  return {
    at: now.at,
    stepMs: now.at - before.at,
    totals: {
      allowed: perSecond(now.metrics.allowed, before.metrics.allowed),
      refused: perSecond(now.metrics.refused, before.metrics.refused),
      shadow: rules.reduce((sum, [, { shadow }]) => sum + shadow, 0),
    },
    rules: Object.fromEntries(rules.filter(([, each]) => each.judged > 0)),
  };
}
