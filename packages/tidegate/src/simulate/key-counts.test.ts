import { describe, expect, it } from "vitest";
import { KeyCounts } from "./key-counts.js";
import { KeyId } from "./key-id.js";

describe("requests by key", () => {
  it("are never counted too low, and hardly ever too high", () => {
    const counts = new KeyCounts(2 ** 16);
    const id = new KeyId();
    const wanted = (i: number) => 1 + (i % 7);
    for (let i = 0; i < 5000; i++) {
      id.of(0, `client ${i}`);
      for (let n = 0; n < wanted(i); n++) counts.add(id.low, id.high);
    }
    let wrong = 0;
    for (let i = 0; i < 5000; i++) {
      id.of(0, `client ${i}`);
      expect(counts.of(id.low, id.high)).toBeGreaterThanOrEqual(wanted(i));
      if (counts.of(id.low, id.high) !== wanted(i)) wrong++;
    }
    expect(wrong).toBeLessThan(250);
  });

  it("of two rules are apart, though the key is the same", () => {
    const id = new KeyId();
    id.of(0, "192.0.2.1");
    const first = id.number;
    id.of(1, "192.0.2.1");
    expect(id.number).not.toBe(first);
    id.of(0, "192.0.2.1");
    expect(id.number).toBe(first);
  });
});
