import { isIP } from "node:net";
import { Gauge, type Registry } from "prom-client";
import type { Gate } from "tidegate";

/** The busiest clients, at most so many at any time: who is no longer among them is no longer shown. */
export function clientMeters(gate: Gate, registry: Registry, most: number): void {
  if (most <= 0) return;
  for (const [name, help, fact] of [
    [
      "tidegate_top_client_requests",
      "Requests of the busiest clients lately (halved every five minutes).",
      "count",
    ],
    [
      "tidegate_top_client_refused",
      "Refused requests of the busiest clients lately (halved every five minutes).",
      "refused",
    ],
  ] as const) {
    new Gauge({
      name,
      help,
      labelNames: ["client"],
      registers: [registry],
      collect() {
        this.reset();
        for (const client of gate.busiest(most)) {
          if (isClient(client.key)) this.set({ client: client.key }, Math.round(client[fact] * 100) / 100);
        }
      },
    });
  }
}

/** An address or its block, nothing a client could have written. */
function isClient(key: string): boolean {
  return key === "unknown" || isIP(key.split("/", 1)[0] as string) !== 0;
}
