import { describe, expect, it } from "vitest";
import { readRow } from "./read-row.js";

describe("a row", () => {
  it.each([
    [
      { id: "a", tier: "pro", limits: null },
      { id: "a", tier: "pro", limits: new Map() },
    ],
    [{ id: 7, tier: null }, { id: "7" }],
    [{ id: 9007199254740993n, tier: "" }, { id: "9007199254740993" }],
    [
      { id: "a", limits: '{"60":100}' },
      { id: "a", limits: new Map([[60, 100]]) },
    ],
    [
      { id: "a", limits: { 60: 0 } },
      { id: "a", limits: new Map([[60, 0]]) },
    ],
    [
      { id: "a", limits: "null" },
      { id: "a", limits: new Map() },
    ],
    [
      { id: "__proto__", tier: "pro" },
      { id: "__proto__", tier: "pro" },
    ],
  ])("%o is a customer", (row, customer) => {
    expect(readRow(row)).toEqual(customer);
  });

  it.each([
    [null],
    ["a"],
    [{}],
    [{ id: "" }],
    [{ id: Number.NaN }],
    [{ id: 1.5 }],
    [{ id: "x".repeat(1025) }],
    [{ id: "\ud800" }],
    [{ id: ["a"] }],
    [{ id: "a", tier: 3 }],
    [{ id: "a", tier: "two words" }],
    [{ id: "a", tier: "x".repeat(65) }],
    [{ id: "a", limits: [] }],
    [{ id: "a", limits: "{" }],
    [{ id: "a", limits: " ".repeat(5000) }],
    [{ id: "a", limits: { 60: "100" } }],
    [{ id: "a", limits: { 60: 1e20 } }],
    [{ id: "a", limits: { 1000000000000: 5 } }],
    [{ id: "a", limits: JSON.parse('{"__proto__":1}') }],
    [{ id: "a", limits: Object.fromEntries(Array.from({ length: 13 }, (_, i) => [i + 1, 1])) }],
  ])("%o says nothing, and it is told why", (row) => {
    expect(readRow(row)).toEqual(expect.any(String));
  });
});
