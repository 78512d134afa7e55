import { expect, it } from "vitest";
import { preferredType } from "./accept.js";

it.each([
  [undefined, "application/problem+json"],
  ["", "application/problem+json"],
  ["*/*", "application/problem+json"],
  ["application/json", "application/problem+json"],
  ["application/problem+json, text/plain", "application/problem+json"],
  ["text/plain", "text/plain"],
  ["TEXT/PLAIN ; Q=0.5", "text/plain"],
  ["text/*", "text/plain"],
  ["text/plain;q=0.5, application/json", "application/problem+json"],
  ["application/json;q=0.2, text/plain;q=0.5", "text/plain"],
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/plain"],
  ["text/plain;q=0", "application/problem+json"],
  ["application/json;q=0, */*", "text/plain"],
  ["text/plain;q=NaN", "application/problem+json"],
  ["image/png", "application/problem+json"],
] as const)("a client that accepts %j gets %s", (accept, expected) => {
  expect(preferredType(accept)).toBe(expected);
});

it("a long list is read to a point and no further", () => {
  expect(preferredType(`${"a/b,".repeat(100_000)}text/plain`)).toBe("application/problem+json");
});
