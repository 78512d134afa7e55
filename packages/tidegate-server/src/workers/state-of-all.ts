import type { FrontState } from "../server.js";

type Metrics = FrontState["metrics"];
type Busy = FrontState["busiest"][number];

/** What all workers together are; undefined stands for one that did not say. */
export function stateOfAll(
  answers: readonly (FrontState | undefined)[],
  count: number,
  most: number,
): FrontState {
  const states = answers.filter((state) => state !== undefined);
  const away = count - states.length;
  return {
    notReady: [
      ...(away > 0 ? [`${away} of ${count} workers can not take requests.`] : []),
      ...new Set(states.flatMap(({ notReady }) => notReady)),
    ],
    metrics: states.map(({ metrics }) => metrics).reduce(sum, nothing),
    busiest: busiest(
      states.flatMap((state) => state.busiest),
      most,
    ),
  };
}

const nothing = {
  decisions: 0,
  allowed: 0,
  refused: 0,
  delayed: 0,
  waiting: 0,
  degraded: false,
  withoutStore: 0,
  byReason: {},
  byRule: {},
  safelistEntries: 0,
  blocklistEntries: 0,
} as unknown as Metrics;

function sum(one: Metrics, other: Metrics): Metrics {
  return {
    decisions: one.decisions + other.decisions,
    allowed: one.allowed + other.allowed,
    refused: one.refused + other.refused,
    delayed: one.delayed + other.delayed,
    waiting: one.waiting + other.waiting,
    degraded: one.degraded || other.degraded,
    withoutStore: one.withoutStore + other.withoutStore,
    byReason: sumEach(one.byReason, other.byReason, add),
    byRule: sumEach(one.byRule, other.byRule, (a, b) => sumEach(a, b, add)),
    // Each has all of them.
    safelistEntries: Math.max(one.safelistEntries, other.safelistEntries),
    blocklistEntries: Math.max(one.blocklistEntries, other.blocklistEntries),
  };
}

function busiest(all: readonly Busy[], most: number): Busy[] {
  const byKey = new Map<string, Busy>();
  for (const { key, count, error, refused, total, totalRefused, perMinute } of all) {
    const known: Busy = byKey.get(key) ?? { key, count: 0, error: 0, refused: 0, total: 0, totalRefused: 0 };
    byKey.set(key, {
      key,
      count: known.count + count,
      error: known.error + error,
      refused: known.refused + refused,
      total: known.total + total,
      totalRefused: known.totalRefused + totalRefused,
      ...((known.perMinute ?? perMinute) !== undefined && {
        perMinute: (known.perMinute ?? 0) + (perMinute ?? 0),
      }),
    });
  }
  return [...byKey.values()].sort((one, other) => other.count - one.count).slice(0, most);
}

function add(one: number, other: number): number {
  return one + other;
}

function sumEach<Values extends object>(
  one: Values,
  other: Values,
  together: (a: Values[keyof Values], b: Values[keyof Values]) => Values[keyof Values] | number,
): Values {
  const sums = { ...one };
  for (const name of Object.keys(other) as (keyof Values)[])
    sums[name] = (one[name] === undefined ? other[name] : together(one[name], other[name])) as never;
  return sums;
}
