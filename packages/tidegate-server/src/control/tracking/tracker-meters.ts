import { Counter, Gauge, type Registry } from "prom-client";

/** What came of the requests told, as plain numbers: labels are looked up when someone reads them, not on every request. */
export interface TrackerMeters {
  counted: number;
  dropped: number;
  readonly crossed: Counter<"rule">;
  readonly leaked: Counter;
}

export function trackerMeters(registry: Registry, clients: () => number): TrackerMeters {
  const registers = [registry];
  const meters: TrackerMeters = {
    counted: 0,
    dropped: 0,
    crossed: new Counter({
      name: "tidegate_crossed_total",
      help: "Clients that crossed a tracked rate and are held for it.",
      labelNames: ["rule"],
      registers,
    }),
    leaked: new Counter({
      name: "tidegate_leaked_total",
      help: "Requests of held clients that came through to here.",
      registers,
    }),
  };
  new Counter({
    name: "tidegate_tracked_total",
    help: "Requests counted for the edges, and those that went uncounted because the store was too slow or out of reach.",
    labelNames: ["outcome"],
    registers,
    collect() {
      this.reset();
      for (const outcome of ["counted", "dropped"] as const)
        if (meters[outcome] > 0) this.inc({ outcome }, meters[outcome]);
    },
  });
  new Gauge({
    name: "tidegate_tracked_clients",
    help: "Clients that came within about the last minute, estimated: addresses, of IPv6 blocks of /64.",
    registers,
    collect() {
      this.set(clients());
    },
  });
  return meters;
}
