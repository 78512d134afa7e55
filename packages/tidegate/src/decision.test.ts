import { expectTypeOf, it } from "vitest";
import type { Decision } from "./decision.js";

it("a decision's reason tells what else is there", () => {
  const waitOf = (decision: Decision) =>
    decision.reason === "over-limit" || decision.reason === "held" ? decision.verdict.retryAfterMs : 0;
  expectTypeOf(waitOf).returns.toBeNumber();
  const isSafeAllowed = (decision: Decision) => decision.reason !== "safelist" || decision.allowed;
  expectTypeOf(isSafeAllowed).returns.toEqualTypeOf<true>();
});
