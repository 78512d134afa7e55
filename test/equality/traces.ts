import fc from "fast-check";
import type { Check, Limit } from "tidegate";
import type { Act, Trace } from "tidegate/testing";
import type { Family } from "./limits.js";

export interface TraceOptions {
  readonly families: readonly Family[];
  /** How many keys one decision may be about. */
  readonly keysPerDecision: 1 | 3;
  /** Whether the clock is set back now and then. */
  readonly setsBack: boolean;
  /** `"binary"`: halves and quarters, whose sums are exact however they are made. */
  readonly fractions: "binary" | "any";
  /** Every lease has a name of its own, as a limiter gives it. Default: some have, and some are renewed. */
  readonly namesLeases?: boolean;
  readonly acts: number;
  /** How many questions follow one another at one instant. Default 1. */
  readonly questions?: number;
}

const rules = ["api", "login", "search"];
const keys = ["ann", "bob", "{c}:x"];
const numbers = [0, 1, 2, 3, 5, 8, 2.5];
const binaryCosts = [1, 1, 1, 1, 2, 3, 0.5, 2.5, 0.25, 7, 1000];
const anyCosts = [...binaryCosts, 0.1, 0.2, 0.7, 1 / 3, 1e-3];
const ids = [undefined, undefined, undefined, undefined, undefined, undefined, "x", "y", "z"];
const strides = [
  0.25, 1, 7, 100, 333, 500, 999, 1000, 1001, 2000, 6000, 10_000, 59_999, 60_000, 60_001, 120_000,
];

/** Random traces. Everything is drawn as small numbers, so that what fails shrinks to what matters. */
export function traces(options: TraceOptions): fc.Arbitrary<Trace> {
  const { families, acts, questions = 1 } = options;
  const costs = options.fractions === "any" ? anyCosts : binaryCosts;
  const made = families.map(({ make }) => new Map(numbers.map((n) => [n, make(n)])));

  /** What one rule asks about one key: up to three limits of those this trace is about. */
  const ask = fc.record({
    rule: fc.nat(rules.length - 1),
    key: fc.nat(keys.length - 1),
    limits: fc.array(fc.tuple(fc.nat(63), fc.nat(numbers.length - 1)), { minLength: 1, maxLength: 3 }),
    cost: fc.nat(costs.length - 1),
    isShadow: fc.nat(7).map((n) => n === 7),
    id: fc.nat(ids.length - 1),
    lease: fc.nat(2 ** 30),
  });
  type Asked = typeof ask extends fc.Arbitrary<infer T> ? T : never;

  const asks = fc.record({
    asks: fc.array(ask, { minLength: 1, maxLength: 3 }),
    isReversed: fc.boolean(),
  });

  function checksOf(
    { asks, isReversed }: { asks: Asked[]; isReversed: boolean },
    pool: readonly number[],
  ): Check[] {
    const seen = new Set<string>();
    const checks = asks.flatMap((asked, n): Check[] => {
      const rule = rules[asked.rule] as string;
      const key = keys[options.keysPerDecision === 1 ? (asks[0] as Asked).key : asked.key] as string;
      if (seen.has(`${rule}\n${key}`)) return [];
      seen.add(`${rule}\n${key}`);
      const chosen = new Map<string, { limit: Limit; family: Family }>();
      for (const [family, number] of asked.limits) {
        const at = pool[family % pool.length] as number;
        const limit = made[at]?.get(numbers[number] as number) as Limit;
        chosen.set(limit.id, { limit, family: families[at] as Family });
      }
      const isNamed =
        options.namesLeases === true && [...chosen.values()].some(({ family }) => family.leases);
      const limits = [...chosen.values()]
        .filter(({ family }) => !(isNamed && family.takes === "one"))
        .slice(0, n === 0 ? 3 : 1);
      const isPlain = limits.some(({ family }) => family.takes === "one");
      const isWhole = limits.some(({ family }) => family.takes === "whole");
      const drawn = costs[asked.cost] as number;
      const cost = isPlain ? 1 : isWhole ? Math.ceil(drawn) : drawn;
      const id = isPlain ? undefined : isNamed ? `lease ${asked.lease}` : ids[asked.id];
      return limits.map(({ limit }) => ({
        rule,
        key,
        limit,
        cost,
        ...(asked.isShadow && { shadow: true }),
        ...(id !== undefined && { id }),
      }));
    });
    return isReversed ? checks.reverse() : checks;
  }

  /** Redis forgets a log or leases only if they are named. */
  function ledgersOf(checks: readonly Check[], pool: readonly number[]): Check[] {
    return checks.flatMap((check) =>
      pool
        .map((at) => made[at]?.get(1) as Limit)
        .filter(({ ledger }) => ledger !== undefined)
        .map((limit) => ({ ...check, limit })),
    );
  }

  type Draft = (pool: readonly number[]) => Act;
  const question = fc.tuple(asks, fc.nat(9)).map(
    ([what, n]): Draft =>
      (pool) => ({ act: n === 9 ? "peek" : "decide", checks: checksOf(what, pool) }),
  );
  const draft: fc.Arbitrary<Draft> = fc.oneof(
    { arbitrary: question, weight: 12 },
    {
      arbitrary: fc
        .oneof(
          fc.constantFrom(...strides).map((ms): Act => ({ act: "advance", ms })),
          fc.integer({ min: 1, max: 200_000 }).map((ms): Act => ({ act: "advance", ms })),
          fc
            .tuple(fc.constantFrom(7, 1000, 60_000), fc.constantFrom(-1, 0, 1, 0.5))
            .map(([to, plus]): Act => ({ act: "advance", to, plus })),
        )
        .map((act) => () => act),
      weight: 5,
    },
    { arbitrary: fc.constantFrom(-1, 0, 1).map((plus) => (): Act => ({ act: "wait", plus })), weight: 2 },
    {
      arbitrary: fc
        .array(fc.nat(3), { minLength: 1, maxLength: 2 })
        .map((nth) => (): Act => ({ act: "refund", nth })),
      weight: 2,
    },
    {
      arbitrary: asks.map(
        (what): Draft =>
          (pool) => ({ act: "refund", charges: checksOf(what, pool) }),
      ),
      weight: 1,
    },
    {
      arbitrary: fc
        .record({
          rule: fc.constantFrom(...rules),
          key: fc.constantFrom(...keys),
          forMs: fc.constantFrom(1, 500, 5000, 90_000),
        })
        .map((hold) => (): Act => ({ act: "hold", ...hold })),
      weight: 1,
    },
    {
      arbitrary: asks.map(
        (what): Draft =>
          (pool) => {
            const checks = checksOf(what, pool);
            return { act: "forget", checks: [...checks, ...ledgersOf(checks, pool)] };
          },
      ),
      weight: 1,
    },
    ...(options.setsBack
      ? [
          {
            arbitrary: fc
              .constantFrom(1, 20, 400, 1000, 61_000, 3_600_000)
              .map((ms) => (): Act => ({ act: "set back", ms })),
            weight: 1,
          },
        ]
      : []),
  );

  const moment = fc
    .tuple(draft, fc.array(question, { maxLength: questions - 1, size: "max" }))
    .map(([first, more]) => [first, ...more]);
  return fc
    .tuple(
      fc.uniqueArray(fc.nat(families.length - 1), { minLength: 1, maxLength: 4 }),
      fc.array(questions === 1 ? draft.map((one) => [one]) : moment, {
        minLength: 1,
        maxLength: Math.ceil(acts / questions),
        size: "max",
      }),
    )
    .map(([pool, drafts]) => drafts.flat().map((one) => one(pool)));
}
