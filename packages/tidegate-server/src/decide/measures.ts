import { Counter, Histogram, type Registry } from "prom-client";

/** What one endpoint is asked, and how long it takes. Counting is an addition: sums are made when somebody looks. */
export interface Endpoint {
  allowed: number;
  refused: number;
  /** Questions that got no decision. */
  rejected: number;
  took(startedAt: number): void;
}

const bounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

export function measures<const Name extends string>(
  registry: Registry,
  names: readonly Name[],
): Readonly<Record<Name, Endpoint>> {
  const endpoints = names.map((name) => new Measured(name));
  new Durations(endpoints, registry);
  new Counter({
    name: "tidegate_decide_decisions_total",
    help: "Decisions of the decision service by endpoint and outcome; rejected are questions that got none.",
    labelNames: ["endpoint", "outcome"],
    registers: [registry],
    collect() {
      this.reset();
      for (const { endpoint, allowed, refused, rejected } of endpoints) {
        this.inc({ endpoint, outcome: "allowed" }, allowed);
        this.inc({ endpoint, outcome: "refused" }, refused);
        this.inc({ endpoint, outcome: "rejected" }, rejected);
      }
    },
  });
  return Object.fromEntries(endpoints.map((each) => [each.endpoint, each])) as unknown as Record<
    Name,
    Endpoint
  >;
}

class Measured implements Endpoint {
  allowed = 0;
  refused = 0;
  rejected = 0;
  seconds = 0;
  readonly endpoint: string;
  /** By bound, and those beyond the last. */
  readonly counts: number[] = Array(bounds.length + 1).fill(0);

  constructor(endpoint: string) {
    this.endpoint = endpoint;
  }

  took(startedAt: number): void {
    const seconds = (performance.now() - startedAt) / 1000;
    this.seconds += seconds;
    let at = 0;
    while (at < bounds.length && seconds > (bounds[at] as number)) at++;
    (this.counts[at] as number)++;
  }
}

const durations = {
  name: "tidegate_decide_seconds",
  help: "From a question's body to its answer, by endpoint.",
};

/** A histogram that is told nothing until somebody looks: prom-client's own takes as long to observe as a decision to be made. */
class Durations extends Histogram<"endpoint"> {
  readonly #endpoints: readonly Measured[];

  constructor(endpoints: readonly Measured[], registry: Registry) {
    super({ ...durations, labelNames: ["endpoint"], buckets: bounds, registers: [registry] });
    this.#endpoints = endpoints;
  }

  /** What prom-client calls for its values, as text or as objects. */
  async getForPromString(): Promise<object> {
    const values = this.#endpoints.flatMap(valuesOf);
    return { ...durations, type: "histogram", aggregator: "sum", values };
  }
}

function valuesOf({ endpoint, counts, seconds }: Measured): object[] {
  const sharedLabels = { endpoint };
  let sum = 0;
  const buckets = counts.map((count, at) => {
    sum += count;
    const le = bounds[at] ?? "+Inf";
    return { labels: { le }, sharedLabels, value: sum, metricName: `${durations.name}_bucket` };
  });
  return [
    ...buckets,
    { labels: {}, sharedLabels, value: seconds, metricName: `${durations.name}_sum` },
    { labels: {}, sharedLabels, value: sum, metricName: `${durations.name}_count` },
  ];
}
