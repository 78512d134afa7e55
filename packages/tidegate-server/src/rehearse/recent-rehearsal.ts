import { setImmediate } from "node:timers/promises";
import type { Gate, IdentityOptions, Policy } from "tidegate";
import { openRehearsal, type RecordedRequest, type RehearsalReport } from "tidegate/simulate";
import type { KeptRequest } from "../kept-request.js";
import { recentNotes } from "./recent-notes.js";
import { type Standing, standingOf } from "./standing.js";

/** Rehearses a policy on the requests a server met lately, beside its traffic. */
export interface RecentRehearsal {
  /** Undefined: another is under way, and one at a time is. Else throws what is wrong with the policy's text. */
  begin(text: string, options: RunOptions): Promise<RehearsalReport> | undefined;
}

export interface RunOptions {
  /** Also tells what would change against the policy in force. */
  readonly isCompared: boolean;
}

export interface RecentRehearsalOptions {
  /** Oldest first. */
  readonly traffic: () => Promise<readonly KeptRequest[]>;
  readonly parse: (text: string) => Policy;
  readonly gate: Pick<Gate, "policy" | "safelist" | "blocklist" | "customers">;
  readonly identity: IdentityOptions;
}

/** After so long whatever else waits has its turn. */
const sliceMs = 5;
/** It ends then, wherever it is: somebody waits for it, and others may not begin. */
const mostMs = 8_000;

export function recentRehearsal(options: RecentRehearsalOptions): RecentRehearsal {
  const { traffic, parse, gate, identity } = options;
  let isUnderWay = false;

  async function run(policy: Policy, { isCompared }: RunOptions): Promise<RehearsalReport> {
    const endsAt = performance.now() + mostMs;
    const inForce = gate.policy;
    const requests = await traffic();
    const standing: Standing = await standingOf(gate, requests);
    const rehearsal = openRehearsal({
      policy: standing.under(policy),
      ...(isCompared && { against: standing.under(inForce) }),
      identity,
      tierOf: standing.tierOf,
      suggest: true,
    });
    try {
      let begun = performance.now();
      let count = 0;
      for (const request of requests) {
        const added = rehearsal.add(recordedOf(request));
        count++;
        if (added !== undefined) await added;
        const now = performance.now();
        if (now - begun < sliceMs) continue;
        if (now > endsAt) break;
        await setImmediate();
        begun = performance.now();
      }
      await rehearsal.finish();
      const report = rehearsal.report();
      const cut = count === requests.length ? [] : [cutShort(count, requests.length)];
      return { ...report, notes: [...cut, ...report.notes, ...recentNotes(policy, requests)] };
    } finally {
      await rehearsal.close();
    }
  }

  return {
    begin(text, how) {
      if (isUnderWay) return undefined;
      const policy = parse(text);
      isUnderWay = true;
      return run(policy, how).finally(() => {
        isUnderWay = false;
      });
    },
  };
}

function cutShort(count: number, all: number): string {
  return `It was cut short after ${mostMs / 1000} s: of ${all} requests the ${count} oldest were rehearsed. A policy with fewer rules takes less time; tidegate replay takes as long as it needs.`;
}

function recordedOf(kept: KeptRequest): RecordedRequest {
  const { at, status, tookMs, userAgent, ip, method, host, path, user, customer, account } = kept;
  return {
    at,
    subject: {
      ip,
      method,
      host,
      path,
      user,
      customer,
      account,
      // As everything that meets traffic here has it.
      ignoresCase: true,
      header: (name) => (name.toLowerCase() === "user-agent" ? userAgent : undefined),
    },
    ...(status !== undefined && { outcome: { status } }),
    ...(tookMs !== undefined && { tookMs }),
  };
}
