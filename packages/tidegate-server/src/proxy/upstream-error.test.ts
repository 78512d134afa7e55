import { expect, it } from "vitest";
import { closedByOrigin, late, upstreamError } from "./upstream-error.js";

const of = (code: string): Error => Object.assign(new Error(code), { code });

it("what may have been heard by one origin is never sent to another, however its connection failed", () => {
  const codes = ["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "ECONNRESET", "EPIPE", "EHOSTUNREACH", "ANY"];
  for (const error of [...codes.map(of), late(), closedByOrigin()])
    expect(upstreamError(error, true).isUnsent, String(error)).toBe(false);
  for (const error of [...codes.map(of), late()]) expect(upstreamError(error, false).isUnsent).toBe(true);
});
