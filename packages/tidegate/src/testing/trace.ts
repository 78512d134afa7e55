import type { Charge, Check } from "../check.js";
import type { Verdict } from "../decision.js";
import type { Store } from "../store.js";
import { differences } from "./vector.js";
import type { VirtualClock } from "./virtual-clock.js";

/** What may happen to a store, one act after the other. Played on two stores, a trace must give the same verdicts. */
export type Trace = readonly Act[];

export type Act =
  | { readonly act: "decide" | "peek"; readonly checks: readonly Check[] }
  /** Gives back what earlier decisions charged, 0 being the last one; or charges as they are. */
  | { readonly act: "refund"; readonly nth: readonly number[] }
  | { readonly act: "refund"; readonly charges: readonly Charge[] }
  | { readonly act: "hold"; readonly rule: string; readonly key: string; readonly forMs: number }
  | { readonly act: "forget"; readonly checks: readonly Check[] }
  | { readonly act: "advance"; readonly ms: number }
  /** To a multiple of so many milliseconds, and a little more or less. */
  | { readonly act: "advance"; readonly to: number; readonly plus: number }
  /** As long as the last refused verdict says, and a little more or less. */
  | { readonly act: "wait"; readonly plus: number }
  | { readonly act: "set back"; readonly ms: number };

/** One act as it was played. Acts that ask nothing have no verdicts. */
export interface Played {
  readonly act: Act;
  readonly at: number;
  readonly verdicts: readonly Verdict[];
}

export interface PlayOptions {
  /** What another store gave for this trace: this one then stands at the same instants, however long its own waits are. */
  readonly like?: readonly Played[];
  /** So many questions in a row are sent in one tick. Default 1. */
  readonly together?: number;
}

export async function playTrace(
  store: Store,
  clock: VirtualClock,
  trace: Trace,
  { like, together = 1 }: PlayOptions = {},
): Promise<Played[]> {
  const played: Played[] = [];
  const memory = new Memory();
  for (let i = 0; i < trace.length; i++) {
    const act = trace[i] as Act;
    if (act.act === "decide" || act.act === "peek") {
      const run = questionsFrom(trace, i, together);
      const answers = await Promise.all(run.map(({ act, checks }) => store[act](checks)));
      run.forEach((question, n) => {
        const verdicts = answers[n] as Verdict[];
        if (question.act === "decide") memory.note(question.checks, verdicts);
        played.push({ act: question, at: clock(), verdicts });
      });
      i += run.length - 1;
      continue;
    }
    if (act.act === "refund") {
      const charges = "nth" in act ? act.nth.flatMap((nth) => memory.charges(nth)) : act.charges;
      memory.noteAsked(charges);
      if (charges.length > 0) await store.refund(charges);
      if (clock() < memory.latest) await forgetWhatEnded(store, memory);
    } else if (act.act === "hold") await store.hold(act.rule, act.key, act.forMs);
    else if (act.act === "forget") await store.forget(act.checks);
    else {
      if (act.act === "set back") await forgetWhatEnded(store, memory);
      memory.latest = Math.max(memory.latest, clock());
      clock.set(like?.[i]?.at ?? memory.timeAfter(act, clock()));
    }
    played.push({ act, at: clock(), verdicts: [] });
  }
  return played;
}

type Question = Extract<Act, { act: "decide" | "peek" }>;

function questionsFrom(trace: Trace, first: number, atMost: number): Question[] {
  const run: Question[] = [];
  for (let i = first; i < trace.length && run.length < atMost; i++) {
    const act = trace[i] as Act;
    if (act.act !== "decide" && act.act !== "peek") break;
    run.push(act);
  }
  return run;
}

/** What a player remembers of its trace. */
class Memory {
  readonly #charged: Charge[][] = [];
  /** Whatever was ever asked about, by rule, key and place of the limit. */
  readonly asked = new Map<string, Check>();
  latest = Number.NEGATIVE_INFINITY;
  #waitMs = 0;

  note(checks: readonly Check[], verdicts: readonly Verdict[]): void {
    this.noteAsked(checks);
    const refused = verdicts.filter(({ allowed, shadow }) => !allowed && !shadow);
    const waits = refused.map(({ retryAfterMs }) => retryAfterMs).filter(Number.isFinite);
    if (waits.length > 0) this.#waitMs = Math.max(...waits);
    if (refused.length > 0) return;
    const charged = checks.flatMap((check, i) => {
      const { allowed, at, resetAfterMs } = verdicts[i] as Verdict;
      return allowed ? [{ ...check, at, resetAfterMs }] : [];
    });
    if (charged.length > 0) this.#charged.unshift(charged);
  }

  noteAsked(checks: readonly Check[]): void {
    for (const check of checks) this.asked.set(`${check.rule}\n${check.key}\n${check.limit.id}`, check);
  }

  charges(nth: number): readonly Charge[] {
    return this.#charged[nth] ?? [];
  }

  timeAfter(act: Act, now: number): number {
    if (act.act === "set back") return now - act.ms;
    if (act.act === "wait") return now + Math.max(0, this.#waitMs + act.plus);
    if (act.act !== "advance") return now;
    if ("ms" in act) return now + act.ms;
    return Math.max(now, Math.ceil(now / act.to) * act.to + act.plus);
  }
}

/**
 * A store may drop what says nothing any more, or keep it: that shows only when the clock is set back. So that every store
 * has the same left, it is forgotten.
 */
async function forgetWhatEnded(store: Store, { asked }: Memory): Promise<void> {
  const ended = new Set<string>();
  for (const check of asked.values()) {
    const [verdict] = (await store.peek([{ ...check, cost: 1 }])) as [Verdict];
    if (verdict.resetAfterMs === 0) ended.add(`${check.rule}\n${check.key}`);
  }
  for (const [place, check] of asked) {
    if (!ended.has(`${check.rule}\n${check.key}`)) continue;
    await store.forget([check]);
    asked.delete(place);
  }
}

/** Where two plays of one trace differ, in the sense of `differences`, one line each; empty when the stores are equal. */
export function traceDifferences(actual: readonly Played[], expected: readonly Played[]): string[] {
  return expected.flatMap(({ verdicts }, i) =>
    verdicts.flatMap((wanted, v) => {
      const got = actual[i]?.verdicts[v] ?? {};
      const lines = differences(got, wanted);
      for (const field of Object.keys(got)) if (!(field in wanted)) lines.push(`${field}: not expected`);
      return lines.map((line) => `act ${i}, verdict ${v} (${wanted.name}): ${line}`);
    }),
  );
}

/** A trace for people, one line per act. */
export function traceText(trace: Trace): string {
  return trace.map((act, i) => `${i}: ${actText(act)}`).join("\n");
}

function actText(act: Act): string {
  if ("checks" in act) return `${act.act} ${act.checks.map(checkText).join(" + ")}`;
  if ("charges" in act) return `${act.act} ${act.charges.map(checkText).join(" + ")}`;
  const { act: verb, ...rest } = act;
  return `${verb} ${JSON.stringify(rest)}`;
}

function checkText({ rule, key, limit, cost = 1, shadow, id }: Check): string {
  const extras = `${cost === 1 ? "" : ` cost ${cost}`}${shadow ? " shadow" : ""}${id === undefined ? "" : ` id ${id}`}`;
  return `${rule}/${key} ${limit.id}(${limit.args.join(",")})${extras}`;
}
