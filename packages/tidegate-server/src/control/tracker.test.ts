import { Registry } from "prom-client";
import { memoryStore, type Store } from "tidegate";
import { subjectOf } from "tidegate/testing";
import { expect, test } from "vitest";
import type { Log } from "../log.js";
import { memoryOffenders } from "./offenders.js";
import { openTracker } from "./tracker.js";

const log: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const settings = { methods: [], standard: "3 per minute", broad: "5 per minute", holdFor: [60_000] };

function tracker(options: { store?: Store; methods?: readonly string[]; mostUnderWay?: number } = {}) {
  const registry = new Registry();
  const offenders = memoryOffenders();
  const { store = memoryStore(), methods = [], mostUnderWay } = options;
  const opened = openTracker({
    settings: { ...settings, methods },
    store,
    offenders,
    log,
    registry,
    ...(mostUnderWay !== undefined && { mostUnderWay }),
  });
  return { ...opened, offenders, registry };
}

/** What came within a few milliseconds goes to the store together. */
const gathered = () => new Promise((resolve) => setTimeout(resolve, 20));

test("a client beyond the threshold on one path becomes an offender by its digest", async () => {
  const { track, offenders } = tracker();
  for (let i = 0; i < 3; i++) track(subjectOf("203.0.113.7", { path: "/a" }));
  await gathered();
  expect(offenders.size).toBe(0);
  track(subjectOf("203.0.113.7", { path: "/a" }));
  await gathered();
  expect(offenders.now()).toMatchObject([
    { rule: "edge/standard", key: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
});

test("a known tool is counted on all paths together, a browser on each", async () => {
  const { track, offenders } = tracker();
  const visit = (agent: string) => {
    for (let i = 0; i < 6; i++)
      track(subjectOf("203.0.113.7", { path: `/${i}`, headers: { "user-agent": agent } }));
  };
  visit("Mozilla/5.0");
  await gathered();
  expect(offenders.size).toBe(0);
  visit("sqlmap/1.4#stable (http://sqlmap.org)");
  await gathered();
  expect(offenders.now()).toMatchObject([{ rule: "edge/broad" }]);
});

test("only the methods named count", async () => {
  const { track, offenders } = tracker({ methods: ["POST"] });
  for (let i = 0; i < 9; i++) track(subjectOf("203.0.113.7", { method: "GET", path: "/a" }));
  await gathered();
  expect(offenders.size).toBe(0);
  for (let i = 0; i < 4; i++) track(subjectOf("203.0.113.7", { method: "POST", path: "/a" }));
  await gathered();
  expect(offenders.size).toBe(1);
});

test("what is gathered when it closes is counted", async () => {
  const { track, close, registry } = tracker();
  track(subjectOf("203.0.113.7"));
  await close();
  expect(await registry.metrics()).toContain('tidegate_tracked_total{outcome="counted"} 1');
});

test("a store that never answers holds nobody up, and what goes uncounted is counted", async () => {
  const hung: Store = Object.assign(Object.create(memoryStore()), { decide: () => new Promise(() => {}) });
  const { track, registry } = tracker({ store: hung, mostUnderWay: 5 });
  for (let i = 0; i < 20; i++) track(subjectOf("203.0.113.7"));
  expect(await registry.metrics()).toContain('tidegate_tracked_total{outcome="dropped"} 15');
});
