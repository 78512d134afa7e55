import { expect, it } from "vitest";
import { tunnelPlaces } from "./tunnel-places.js";

it("one client has its places, all have theirs, and each comes back once", () => {
  const take = tunnelPlaces({ most: 3, mostOfOne: 2 });
  const leave = take("a");
  expect(take("a")).toBeDefined();
  expect(take("a")).toBeUndefined();
  expect(take("b")).toBeDefined();
  expect(take("c")).toBeUndefined();
  leave?.();
  expect(take("c")).toBeDefined();
  expect(take("a")).toBeUndefined();
});
