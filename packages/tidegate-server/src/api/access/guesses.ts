import type { IncomingMessage } from "node:http";
import { createGate, memoryStore, type Subject, slidingLog } from "tidegate";
import { tooManyGuesses } from "./problems.js";

/** Wrong tokens and codes an address may send; IPv6 by its /64. Of any minute, not twice as many where two meet. */
const most = slidingLog({ limit: 20, window: "1m" });

/** Keeps anybody from finding a token by trying. Who guesses too often is not heard for a while. */
export interface Guesses {
  /** Throws when this address is not heard now. */
  listen(req: IncomingMessage): Promise<void>;
  /** The same, and counts it as wrong at once, however many come together. Answers how to take that back. */
  count(req: IncomingMessage): Promise<() => Promise<void>>;
}

export function guesses(): Guesses {
  const gate = createGate({
    rules: [{ name: "admin token", by: "ip", limits: [most], count: "failures", hold: { for: "1m" } }],
    store: memoryStore({ maxKeys: 10_000 }),
    onWarning: () => {},
  });
  return {
    async listen(req) {
      const { allowed, verdict } = await gate.explain(subjectOf(req));
      if (!allowed) throw tooManyGuesses(verdict?.retryAfterMs ?? 60_000);
    },
    async count(req) {
      const { allowed, verdict, finish } = await gate.decide(subjectOf(req));
      if (!allowed) throw tooManyGuesses(verdict?.retryAfterMs ?? 60_000);
      return () => finish({ status: 200 });
    },
  };
}

function subjectOf(req: IncomingMessage): Subject {
  return {
    ip: req.socket.remoteAddress ?? "",
    method: "GET",
    host: "",
    path: "/",
    header: () => undefined,
  };
}
