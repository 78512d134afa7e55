import { expect, it } from "vitest";
import type { KeptRequest } from "../kept-request.js";
import type { Asking } from "./asking.js";
import { trafficOfAll } from "./traffic-of-all.js";

const requestAt = (at: number): KeptRequest => ({
  at,
  ip: "203.0.113.7",
  method: "GET",
  host: "",
  path: "/",
});

/** A worker with requests at these times, which tells of `pageSize` at a time at most. */
function worker(times: readonly number[], pageSize = 2): Asking {
  return {
    ask: async (question: { kind: string; from?: number }) => {
      const { from = 0 } = question;
      const end = from + pageSize;
      return { requests: times.slice(from, end).map(requestAt), ...(end < times.length && { next: end }) };
    },
    hear() {},
  } as unknown as Asking;
}

it("what each worker kept comes together page by page, in the order of time", async () => {
  const all = await trafficOfAll([worker([1, 4, 6, 7, 9]), worker([2, 3, 8])]);
  expect(all.map(({ at }) => at)).toEqual([1, 2, 3, 4, 6, 7, 8, 9]);
});

it("a worker that does not say has none, and the others' are there", async () => {
  const silent = { ask: async (_: unknown, otherwise: unknown) => otherwise, hear() {} } as unknown as Asking;
  expect((await trafficOfAll([silent, worker([5])])).map(({ at }) => at)).toEqual([5]);
  expect(await trafficOfAll([])).toEqual([]);
});
