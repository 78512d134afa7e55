import type { Gate, GateMetrics } from "tidegate";
import { everySecond, lastSecond } from "./every-second.js";
import { followedClients } from "./followed-clients.js";
import { secondRing } from "./second-ring.js";
import {
  type BusyClient,
  type ClientSeries,
  type RuleRows,
  ruleNames,
  type Series,
  seriesSeconds,
  stepMs,
} from "./series.js";

/** What one gate decided lately. It is asked for its counts once a second: requests pay nothing for it. */
export interface FrontSeries {
  /** Of the newest seconds, so many. */
  read(seconds: number): Series;
  /** Undefined: this client is not among the busiest. */
  client(key: string): ClientSeries | undefined;
  /** The rate of one of the busiest clients; nothing of another. */
  lately(key: string): Pick<BusyClient, "perMinute">;
  close(): void;
}

/** A policy with more rules is not plotted to the end. */
const mostRules = 500;

const everything = "";

export function openFrontSeries(gate: Pick<Gate, "metrics" | "busiest">): FrontSeries {
  const totals = secondRing({ width: 3, seconds: seriesSeconds, most: 1 });
  const rules = secondRing({ width: 4, seconds: seriesSeconds, most: mostRules });
  const clients = followedClients(gate);
  const since = Date.now();
  let before: GateMetrics = gate.metrics();

  function take(): void {
    const second = lastSecond();
    const now = gate.metrics();
    totals.begin(second);
    rules.begin(second);
    let shadow = 0;
    for (const [rule, counts] of Object.entries(now.byRule)) {
      const added = ruleAdded(counts, before.byRule[rule]);
      shadow += added[2];
      rules.add(rule, added);
    }
    totals.add(everything, [now.allowed - before.allowed, now.refused - before.refused, shadow]);
    before = now;
    clients.take(second);
  }

  const stop = everySecond(take);
  return {
    read(seconds) {
      const from = (totals.newest ?? lastSecond()) - seconds + 1;
      const [allowed = [], refused = [], shadow = []] = totals.rows(everything, from, seconds);
      const told = [...rules.names()].flatMap((rule) => {
        const rows = rules.rows(rule, from, seconds);
        return rows.some((row) => row.some((number) => number > 0)) ? [[rule, named(rows)] as const] : [];
      });
      return {
        from: from * stepMs,
        stepMs,
        since,
        totals: { allowed, refused, shadow },
        rules: Object.fromEntries(told),
      };
    },
    client: clients.read,
    lately: clients.lately,
    close: stop,
  };
}

type RuleCounts = GateMetrics["byRule"][string];

function ruleAdded(now: RuleCounts, before: RuleCounts = nothing): [number, number, number, number] {
  return [
    now.judged - before.judged,
    now.refused - before.refused,
    now.shadowRefused - before.shadowRefused,
    now.held - before.held,
  ];
}

const nothing: RuleCounts = { judged: 0, refused: 0, shadowRefused: 0, held: 0 };

function named(rows: readonly (readonly number[])[]): RuleRows {
  return Object.fromEntries(ruleNames.map((name, i) => [name, rows[i]])) as unknown as RuleRows;
}
