import type { Policy } from "tidegate";
import {
  type Abuse,
  type ModelledRequest,
  openRehearsal,
  type RehearsalOptions,
  type Truth,
} from "tidegate/simulate";

/** How well a policy tells abusive clients from ordinary ones. */
export interface Measured {
  readonly requests: number;
  readonly ordinary: number;
  /** Ordinary clients of whom one request was refused, or more. */
  readonly wronged: readonly string[];
  readonly abusive: number;
  readonly missed: readonly string[];
  /** Abusive clients that look ordinary, one by one: told of, and no part of recall. */
  readonly hard: number;
  readonly hardFound: number;
  /** Of all clients refused even once, the share that is abusive, of whatever kind. */
  readonly precision: number;
  /** Of the abusive clients that this policy is for, the share found. */
  readonly recall: number;
}

export interface MeasureOptions {
  readonly policy: Policy;
  readonly traffic: Iterable<ModelledRequest>;
  /** What the policy is for. Other abusive clients count neither way, but must not be ordinary to be refused. */
  readonly against: readonly Abuse[];
  readonly tierOf: (customer: string) => string | undefined;
}

interface Seen {
  readonly truth: Truth;
  readonly firstAt: number;
  refused: number;
  late: number;
  lateRefused: number;
}

/** What a client does in its first two minutes is not held against the policy: nobody is known by one request. */
const graceMs = 120_000;

/**
 * Rehearses the traffic. An abusive client is found when more than half of its requests are refused, its first two minutes
 * left out; an ordinary one is wronged by a single refusal.
 */
export async function measure({ policy, traffic, against, tierOf }: MeasureOptions): Promise<Measured> {
  const clients = new Map<string, Seen>();
  const onDecision: RehearsalOptions["onDecision"] = (request, { allowed }) => {
    const { at, truth } = request as ModelledRequest;
    let seen = clients.get(truth.client);
    if (seen === undefined) {
      seen = { truth, firstAt: at, refused: 0, late: 0, lateRefused: 0 };
      clients.set(truth.client, seen);
    }
    const isRefused = allowed ? 0 : 1;
    seen.refused += isRefused;
    if (at - seen.firstAt < graceMs) return;
    seen.late++;
    seen.lateRefused += isRefused;
  };
  const rehearsal = openRehearsal({ policy, tierOf, onDecision });
  for (const request of traffic) await rehearsal.add(request);
  await rehearsal.finish();
  const { requests } = rehearsal.report();
  await rehearsal.close();
  return summed([...clients.values()], requests, against);
}

function summed(clients: readonly Seen[], requests: number, against: readonly Abuse[]): Measured {
  const ordinary = clients.filter(({ truth }) => truth.abuse === undefined);
  const wronged = ordinary.filter(({ refused }) => refused > 0);
  const meant = clients.filter(({ truth: { abuse } }) => abuse !== undefined && against.includes(abuse));
  const abusive = meant.filter(({ truth }) => !truth.isHard);
  const missed = abusive.filter((client) => !isFound(client));
  const hard = meant.filter(({ truth }) => truth.isHard);
  const refused = clients.filter((client) => client.refused > 0);
  return {
    requests,
    ordinary: ordinary.length,
    wronged: names(wronged),
    abusive: abusive.length,
    missed: names(missed),
    hard: hard.length,
    hardFound: hard.filter(isFound).length,
    precision: refused.length === 0 ? 1 : 1 - wronged.length / refused.length,
    recall: abusive.length === 0 ? 1 : 1 - missed.length / abusive.length,
  };
}

function isFound({ late, lateRefused }: Seen): boolean {
  return late > 0 && lateRefused > late / 2;
}

function names(clients: readonly Seen[]): string[] {
  return clients.map(({ truth }) => truth.client);
}
