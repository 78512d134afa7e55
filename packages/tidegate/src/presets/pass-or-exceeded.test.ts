import { expect, it } from "vitest";
import { createLimiter, slidingLog } from "../index.js";
import { passOrExceeded } from "./pass-or-exceeded.js";

it("a limiter answers in the printed words, for calls of any cost", async () => {
  const ask = passOrExceeded(
    createLimiter({
      name: "transfers",
      limit: slidingLog({ limit: 2000, window: "1d", onWarning: () => {} }),
    }),
  );
  const words = [await ask("user", 1500), await ask("user", 501), await ask("user", 500), await ask("user")];
  expect(words).toEqual(["pass", "exceeded limit", "pass", "exceeded limit"]);
  expect(await ask("other")).toBe("pass");
});

it("a key or cost that can not be counted is an error, not a word", async () => {
  const ask = passOrExceeded(createLimiter({ name: "r", limit: "5 per minute" }));
  await expect(ask("")).rejects.toThrow(TypeError);
  await expect(ask("user", -1)).rejects.toThrow(TypeError);
});
