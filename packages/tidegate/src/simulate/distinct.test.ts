import { describe, expect, it } from "vitest";
import { KeyHash } from "../key-hash.js";
import { Distinct } from "./distinct.js";

function counted(distinct: Distinct, keys: number): Distinct {
  const hash = new KeyHash();
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < keys; i++) {
      hash.of(`client ${i}`);
      distinct.add(hash.low, hash.high);
    }
  }
  return distinct;
}

describe("distinct clients", () => {
  it.each([0, 1, 1000, 4096])("are counted exactly up to some thousands: %i", (keys) => {
    const distinct = counted(new Distinct(), keys);
    expect(distinct.count).toBe(keys);
    expect(distinct.isExact).toBe(true);
  });

  it.each([
    [10_000, 2 ** 22],
    [300_000, 2 ** 22],
    [500_000, 2 ** 18],
  ])("are estimated beyond, within 3 hundredths: %i in %i bits", (keys, bits) => {
    const distinct = counted(new Distinct(bits), keys);
    expect(Math.abs(distinct.count / keys - 1)).toBeLessThan(0.03);
    expect(distinct.isExact).toBe(false);
  });
});
