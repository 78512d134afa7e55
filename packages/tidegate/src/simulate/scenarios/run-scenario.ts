import type { Limit } from "../../limit.js";
import { memoryStore } from "../../stores/memory/memory-store.js";
import { arrivals } from "./arrivals.js";
import { checkScenario } from "./check-scenario.js";
import { limitOf, limitWords } from "./limit-spec.js";
import type { Scenario } from "./scenario.js";

/** A time in seconds, and what was found then. */
export type Point = readonly [seconds: number, value: number];

export interface ScenarioRun {
  readonly scenario: Scenario;
  readonly limits: readonly LimitRun[];
}

export interface LimitRun {
  readonly name: string;
  /** The algorithm, e.g. `"earrrl"`. */
  readonly kind: string;
  readonly clients: readonly ClientRun[];
}

/** What became of a client, or of many alike together. */
export interface ClientRun {
  readonly client: string;
  readonly sent: number;
  readonly passed: number;
  readonly firstRefusedAt?: number;
  readonly lastRefusedAt?: number;
  readonly calls: readonly Call[];
  /** EARRRL: just before and just after each call, and as it fades; of many alike the first one's. */
  readonly estimates?: readonly Point[];
  /** EARRRL: at the times of `readAt`. */
  readonly readings?: readonly Point[];
}

export interface Call {
  readonly at: number;
  readonly allowed: boolean;
}

/** How finely an estimate is followed where no call is. */
const looks = 400;

/** Judges the scenario's traffic by each of its limits: the real ones, in memory, on a clock of their own. */
export function runScenario(scenario: Scenario): ScenarioRun {
  checkScenario(scenario);
  const moments = momentsOf(scenario);
  return {
    scenario,
    limits: scenario.limits.map(({ name, limit: spec, isShared = false }) => {
      const limit = limitOf(spec);
      const clients = judged(scenario, moments, { limit, isShared });
      return {
        name: name ?? `${limitWords(spec)}${isShared ? ", all together" : ""}`,
        kind: limit.kind,
        clients,
      };
    }),
  };
}

/** Something that happens to the `nth` of a client's many: a call, or a look at its estimate. */
interface Moment {
  readonly at: number;
  readonly client: number;
  readonly nth: number;
  readonly kind: "look" | "reading" | "call";
}

const order = { look: 0, reading: 1, call: 2 };

function momentsOf({ clients, seconds, readAt = [] }: Scenario): Moment[] {
  const moments: Moment[] = [];
  for (const [client, one] of clients.entries()) {
    for (let nth = 0; nth < (one.count ?? 1); nth++)
      for (const at of arrivals(one, nth)) if (at <= seconds) moments.push({ at, client, nth, kind: "call" });
    for (let i = 0; i <= looks; i++)
      moments.push({ at: (i * seconds) / looks, client, nth: 0, kind: "look" });
    for (const at of readAt) moments.push({ at, client, nth: 0, kind: "reading" });
  }
  return moments.sort((a, b) => a.at - b.at || order[a.kind] - order[b.kind]);
}

interface Judging {
  readonly limit: Limit;
  readonly isShared: boolean;
}

function judged(scenario: Scenario, moments: readonly Moment[], { limit, isShared }: Judging): ClientRun[] {
  let now = 0;
  const store = memoryStore({ clock: () => now });
  const records = scenario.clients.map(() => ({
    calls: [] as Call[],
    estimates: [] as Point[],
    readings: [] as Point[],
  }));
  for (const { at, client, nth, kind } of moments) {
    now = at * 1000;
    const record = records[client] as (typeof records)[number];
    const checks = [{ rule: "scenario", key: isShared ? "all" : `${client}/${nth}`, limit }];
    const estimate = () => store.peek(checks)[0]?.estimate;
    const note = (points: Point[], value: number | undefined) => {
      if (value !== undefined && nth === 0) points.push([at, value]);
    };
    if (kind === "call") {
      const verdict = store.decide(checks)[0];
      record.calls.push({ at, allowed: verdict?.allowed === true });
      note(record.estimates, verdict?.estimate);
      if (verdict?.estimate !== undefined && nth === 0) note(record.estimates, estimate());
    } else if (limit.kind === "earrrl")
      note(kind === "look" ? record.estimates : record.readings, estimate());
  }
  return records.map(({ calls, estimates, readings }, i) => {
    const refused = calls.filter(({ allowed }) => !allowed);
    const [first] = refused;
    const last = refused.at(-1);
    return {
      client: scenario.clients[i]?.name as string,
      sent: calls.length,
      passed: calls.length - refused.length,
      ...(first && last && { firstRefusedAt: first.at, lastRefusedAt: last.at }),
      calls,
      ...(limit.kind === "earrrl" && { estimates, ...(scenario.readAt && { readings }) }),
    };
  });
}

/** How many calls had been sent, and let in, at each step of `every` seconds. */
export function soFar(
  { calls }: Pick<ClientRun, "calls">,
  seconds: number,
  every: number,
): { readonly sent: readonly Point[]; readonly passed: readonly Point[] } {
  const sent: Point[] = [];
  const passed: Point[] = [];
  let i = 0;
  let allowed = 0;
  for (let step = 0; step * every <= seconds + 1e-9; step++) {
    const at = step * every;
    for (; i < calls.length && (calls[i] as Call).at <= at + 1e-9; i++) if (calls[i]?.allowed) allowed++;
    sent.push([at, i]);
    passed.push([at, allowed]);
  }
  return { sent, passed };
}
