import { expect, it } from "vitest";
import { ruleName } from "./rule-name.js";

const long = "x".repeat(64);

it.each(["requests", "requests GET /users/:id", long])("%j stays as it is", (text) => {
  expect(ruleName(text)).toBe(text);
});

it("texts that a name can not hold get names of their own", () => {
  const texts = ["/é", "/è", "/?", "a\nb", "a\0b", `${long}a`, `${long}b`, "x".repeat(100_000)];
  const names = texts.map(ruleName);
  expect(new Set(names).size).toBe(texts.length);
  for (const name of names) expect(name).toMatch(/^[\x20-\x7e]{1,64}$/);
});
