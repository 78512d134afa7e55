import fc from "fast-check";
import { memoryStore } from "tidegate";
import { playTrace, type Trace, traceDifferences, traceText, virtualClock } from "tidegate/testing";
import { afterAll, describe, expect, it } from "vitest";
import { everyPlace, type Place } from "../holes/places.js";
import { families, ledgerFamilies } from "./limits.js";
import { shortest } from "./shortest.js";
import { type TraceOptions, traces } from "./traces.js";

/** How many acts all comparisons play together: few in `npm test`, two million in `npm run proof`. */
const allSteps = Number(process.env.TIDEGATE_PROOF_STEPS ?? 20_000);
const seed = Number(process.env.TIDEGATE_PROOF_SEED ?? 20_170_428);
/** 2017-04-28 15:30:00Z and a bit. */
const start = 1_493_393_400_123;
/** So many traces are played at a time: they share nothing but the connection. */
const lanes = 8;

const everything = [...families, ...ledgerFamilies];
const whole: TraceOptions = {
  families: everything,
  keysPerDecision: 3,
  setsBack: false,
  fractions: "any",
  acts: 120,
};

interface Comparison {
  readonly title: string;
  readonly place: "Redis" | "a cluster" | "memcached";
  readonly traces: TraceOptions;
  /** Whether questions of one instant are sent in one tick, so many at a time. */
  readonly together?: number;
}

const comparisons: readonly Comparison[] = [
  { title: "Redis, whatever is asked", place: "Redis", traces: whole },
  {
    title: "Redis, also when its clock is set back",
    place: "Redis",
    traces: { ...whole, setsBack: true },
  },
  {
    title: "Redis, 64 decisions sent in one tick",
    place: "Redis",
    traces: { ...whole, acts: 256, questions: 64 },
    together: 64,
  },
  {
    title: "a cluster, where keys live apart and refused charges are given back",
    place: "a cluster",
    traces: { ...whole, fractions: "binary", namesLeases: true },
  },
  {
    title: "a cluster, also when its clock is set back",
    place: "a cluster",
    traces: { ...whole, keysPerDecision: 1, setsBack: true },
  },
  {
    title: "a cluster, 64 decisions of one key each sent in one tick",
    place: "a cluster",
    traces: { ...whole, keysPerDecision: 1, acts: 256, questions: 64 },
    together: 64,
  },
  { title: "memcached, with limits of constant state", place: "memcached", traces: { ...whole, families } },
  {
    title: "memcached, also when the clock is set back",
    place: "memcached",
    traces: { ...whole, families, setsBack: true },
  },
];

const stepsWanted = Math.ceil(allSteps / comparisons.length);

const places = everyPlace();
afterAll(() => Promise.all(places.map((place) => place.close())));

describe("memory is equal, verdict for verdict, to", () => {
  for (const comparison of comparisons) {
    describe(comparison.title, () => {
      const place = places.find(({ name }) => name === comparison.place) as Place;
      it(`over ${stepsWanted.toLocaleString("en")} random acts`, {
        timeout: 300_000 + stepsWanted * 2,
      }, async () => {
        let steps = 0;
        let toldAt = Date.now();
        const arbitrary = traces(comparison.traces);
        async function isEqual(trace: Trace): Promise<boolean> {
          const differing = await compare(comparison, place, trace);
          steps += trace.length;
          if (Date.now() - toldAt > 10_000) {
            toldAt = Date.now();
            console.log(`${comparison.title}: ${steps.toLocaleString("en")} acts`);
          }
          return differing.length === 0;
        }
        async function play(lane: number): Promise<void> {
          for (let round = lane; steps < stepsWanted; round += lanes) {
            const found = await fc.check(fc.asyncProperty(arbitrary, isEqual), {
              seed: seed + round,
              numRuns: 20,
              endOnFailure: true,
            });
            if (found.counterexample === null) continue;
            steps = Number.POSITIVE_INFINITY;
            const trace = await shortest(found.counterexample[0], async (fewer) => !(await isEqual(fewer)));
            const differing = await compare(comparison, place, trace);
            expect.fail([`seed ${seed + round}`, ...differing, traceText(trace)].join("\n"));
          }
        }
        await Promise.all(Array.from({ length: lanes }, (_, lane) => play(lane)));
        expect(steps).toBeGreaterThanOrEqual(stepsWanted);
      });
    });
  }
});

/** In what the store at this place differs from memory over one trace. */
async function compare({ together = 1 }: Comparison, place: Place, trace: Trace): Promise<string[]> {
  const clock = virtualClock(start);
  const expected = await playTrace(memoryStore({ clock }), clock, trace);
  clock.set(start);
  try {
    const actual = await playTrace(place.open(clock), clock, trace, { like: expected, together });
    return traceDifferences(actual, expected);
  } catch (error) {
    return [`it threw ${error}`];
  }
}
