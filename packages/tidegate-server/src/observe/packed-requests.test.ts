import fc from "fast-check";
import { expect, it, onTestFinished, vi } from "vitest";
import type { KeptRequest } from "../kept-request.js";
import { packedRequests } from "./packed-requests.js";

const text = fc.oneof(fc.string({ unit: "binary", maxLength: 30 }), fc.constant("𝒳".repeat(100)));
const request: fc.Arbitrary<KeptRequest> = fc.record(
  {
    at: fc.integer({ min: 0, max: 2 ** 45 }),
    ip: text,
    method: text,
    host: text,
    path: text,
    userAgent: text,
    user: text,
    customer: text,
    account: text,
  },
  { requiredKeys: ["at", "ip", "method", "host", "path"] },
);

it("gives back whatever texts a request had, the newest of so many, with how they ended", () => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (all, keep) => {
      const packed = packedRequests(keep);
      all.forEach((each, i) => {
        packed.add(each);
        if (i % 3 === 0) packed.end(i, 200 + i, each.at + i + 1);
      });
      expect(packed.total).toBe(all.length);
      all.forEach((each, i) => {
        const isKept = i >= all.length - keep;
        const end = i % 3 === 0 ? { status: 200 + i, tookMs: i + 1 } : {};
        expect(packed.get(i)).toEqual(isKept ? { ...each, ...end } : undefined);
      });
      expect(packed.get(all.length)).toBeUndefined();
    }),
    { seed: 5 },
  );
});

it("is as good after many pages, and forgets the end of who is gone", () => {
  const packed = packedRequests(1_500);
  const requestOf = (i: number): KeptRequest => ({
    at: i,
    ip: `ip ${i}`,
    method: "GET",
    host: "",
    path: "/",
  });
  for (let i = 0; i < 10_000; i++) {
    packed.add(requestOf(i));
    packed.end(i - 2_000, 500, i);
  }
  for (let i = 8_500; i < 10_000; i++) expect(packed.get(i)).toEqual(requestOf(i));
  for (const gone of [0, 8_499]) expect(packed.get(gone)).toBeUndefined();
  packed.clear();
  expect(packed.get(9_999)).toBeUndefined();
});

it("writes over pages nobody reads any more, and allocates no others", () => {
  const packed = packedRequests(2_000);
  const add = (count: number): void => {
    for (let i = 0; i < count; i++)
      packed.add({ at: i, ip: "203.0.113.7", method: "GET", host: "shop.example", path: "/a" });
  };
  add(4_000);
  const allocate = vi.spyOn(Buffer, "allocUnsafeSlow");
  onTestFinished(() => allocate.mockRestore());
  add(100_000);
  expect(allocate).not.toHaveBeenCalled();
  packed.clear();
  add(1);
  expect(allocate).toHaveBeenCalledOnce();
});
