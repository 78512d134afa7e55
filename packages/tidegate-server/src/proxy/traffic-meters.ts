import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { ErrorKind } from "./upstream-error.js";

/** In seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const classes = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/** One upstream's traffic, as plain numbers: labels are looked up when someone reads them, not on every request. */
export class Tally {
  readonly byClass = new Float64Array(classes.length);
  readonly byBound = new Float64Array(bounds.length + 1);
  readonly errors = new Map<ErrorKind, number>();
  seconds = 0;
  count = 0;
  active = 0;
  tunnels = 0;

  /** Without a status the client went away before there was an answer. */
  ended(status: number | undefined, ms: number): void {
    this.active--;
    const seconds = ms / 1000;
    this.byClass[status === undefined ? 0 : Math.min(5, Math.floor(status / 100))]!++;
    let i = 0;
    while (i < bounds.length && seconds > (bounds[i] as number)) i++;
    this.byBound[i]!++;
    this.seconds += seconds;
    this.count++;
  }

  failed(kind: ErrorKind): void {
    this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1);
  }
}

/** Shows the tallies of all upstreams in a registry; answers the function that makes one. */
export function trafficMeters(registry: Registry): (upstream: string) => Tally {
  const tallies = new Map<string, Tally>();
  const registers = [registry];
  const labelNames = ["upstream"] as const;

  new Counter({
    name: "tidegate_proxy_requests_total",
    help: "Requests passed on, by upstream and class of the answer's status (none: the client left).",
    labelNames: [...labelNames, "status"],
    registers,
    collect() {
      this.reset();
      for (const [upstream, { byClass }] of tallies)
        classes.forEach((status, i) => {
          this.inc({ upstream, status }, byClass[i] as number);
        });
    },
  });
  new Counter({
    name: "tidegate_proxy_upstream_errors_total",
    help: "Requests an upstream did not answer, by upstream and kind.",
    labelNames: [...labelNames, "kind"],
    registers,
    collect() {
      this.reset();
      for (const [upstream, { errors }] of tallies)
        for (const [kind, count] of errors) this.inc({ upstream, kind }, count);
    },
  });
  new Gauge({
    name: "tidegate_proxy_active_requests",
    help: "Requests under way, by upstream.",
    labelNames,
    registers,
    collect() {
      for (const [upstream, { active }] of tallies) this.set({ upstream }, active);
    },
  });
  new Gauge({
    name: "tidegate_proxy_tunnels",
    help: "Upgraded connections that are open, by upstream.",
    labelNames,
    registers,
    collect() {
      for (const [upstream, { tunnels }] of tallies) this.set({ upstream }, tunnels);
    },
  });
  new TallyHistogram(tallies, {
    name: "tidegate_proxy_request_seconds",
    help: "Time from a request's admission to the end of the upstream's answer, by upstream.",
    labelNames,
    registers,
  });

  return (upstream) => {
    const tally = tallies.get(upstream) ?? new Tally();
    tallies.set(upstream, tally);
    return tally;
  };
}

type HistogramOptions = ConstructorParameters<typeof Histogram<"upstream">>[0];

class TallyHistogram extends Histogram<"upstream"> {
  readonly #tallies: ReadonlyMap<string, Tally>;
  readonly #options: HistogramOptions;

  constructor(tallies: ReadonlyMap<string, Tally>, options: HistogramOptions) {
    super({ ...options, buckets: bounds });
    this.#tallies = tallies;
    this.#options = options;
  }

  /** Where prom-client looks first when it writes text. */
  getForPromString(): ReturnType<Histogram<"upstream">["get"]> {
    return this.get();
  }

  override async get(): ReturnType<Histogram<"upstream">["get"]> {
    const { name, help } = this.#options;
    const values = [...this.#tallies].flatMap(([upstream, { byBound, seconds, count }]) => {
      let below = 0;
      const buckets = [...bounds, "+Inf"].map((le, i) => {
        below += byBound[i] as number;
        return { metricName: `${name}_bucket`, labels: { le, upstream }, value: below };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels: { upstream }, value: seconds },
        { metricName: `${name}_count`, labels: { upstream }, value: count },
      ];
    });
    return { name, help, type: "histogram" as never, aggregator: "sum", values } as never;
  }
}
