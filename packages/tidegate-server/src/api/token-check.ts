import type { IncomingMessage } from "node:http";
import { createGate, memoryStore, type RateText } from "tidegate";
import { bearer } from "../listen/bearer.js";
import type { Secret } from "../secret.js";
import { ApiProblem } from "./api-problem.js";

/** Wrong tokens an address may send; IPv6 by its /64. */
const guesses: RateText = "20 per minute";

/** Throws unless the request brings the token. Who guesses too often is not heard for a while, right or wrong. */
export function tokenCheck(token: Secret | undefined): (req: IncomingMessage) => Promise<void> {
  if (token === undefined) return async () => {};
  const gate = createGate({
    rules: [{ name: "admin token", by: "ip", limits: [guesses], count: "failures" }],
    store: memoryStore({ maxKeys: 10_000 }),
    onWarning: () => {},
  });

  return async (req) => {
    const { authorization } = req.headers;
    if (authorization === undefined) throw unknown("Send the token as `Authorization: Bearer <token>`.");
    const decision = await gate.decide({
      ip: req.socket.remoteAddress ?? "",
      method: "GET",
      host: "",
      path: "/",
      header: () => undefined,
    });
    if (!decision.allowed) throw tooMany(decision.verdict?.retryAfterMs ?? 60_000);
    const isRight = bearer(authorization, token);
    await decision.finish({ status: isRight ? 200 : 401 });
    if (!isRight) throw unknown("This is not the token.");
  };
}

function unknown(detail: string): ApiProblem {
  return new ApiProblem({ status: 401, code: "TG_ADMIN_TOKEN", detail }, { "WWW-Authenticate": "Bearer" });
}

function tooMany(retryAfterMs: number): ApiProblem {
  return new ApiProblem(
    {
      status: 429,
      code: "TG_ADMIN_TOKEN",
      detail: "Too many wrong tokens came from this address. Wait a minute.",
    },
    { "Retry-After": `${Math.ceil(Math.min(retryAfterMs, 3_600_000) / 1000)}` },
  );
}
