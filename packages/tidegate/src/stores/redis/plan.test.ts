import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Check } from "../../check.js";
import { fixedWindow } from "../../index.js";
import { groupsOf } from "./plan.js";

const limits = [fixedWindow({ limit: 1, window: "1s" }), fixedWindow({ limit: 2, window: "1m" })];
const check = fc.record<Check>({
  rule: fc.constantFrom("a", "b"),
  key: fc.constantFrom("x", "y", "z"),
  limit: fc.constantFrom(...limits),
});

/** Side by side as a gate asks, or in any order. */
const checks = fc.array(check, { minLength: 1, maxLength: 12 }).chain((list) =>
  fc.constantFrom(
    list,
    list.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
  ),
);

function nameOf({ rule, key }: Check): string {
  return `${rule} ${key}`;
}

describe("the groups of a request", () => {
  it("are what each rule asks about each key, in the order of their first checks, wherever the others stand", () => {
    fc.assert(
      fc.property(fc.array(checks, { minLength: 1, maxLength: 5 }), (requests) => {
        // One after the other: what is made for one request is used for the next.
        for (const request of requests) {
          const places = new Map<string, number[]>();
          request.forEach((each, i) => {
            places.set(nameOf(each), [...(places.get(nameOf(each)) ?? []), i]);
          });
          const groups = groupsOf(request);
          expect(groups.map(({ at }) => at)).toEqual([...places.values()]);
          for (const { plan, at } of groups) expect(plan.limits).toEqual(at.map((i) => request[i]?.limit));
        }
      }),
    );
  });
});
