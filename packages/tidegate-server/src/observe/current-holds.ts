import type { Gate, GateEvents, Subject, Verdict } from "tidegate";
import { canonicalBlock } from "tidegate/http";
import type { Hold, Released } from "../hold.js";
import type { OffenderFacts } from "../offenders.js";
import { cut, cutIf, pathOf } from "./kept-facts.js";

/** Whom one gate's rules hold now, edges or not. Bounded: the longest stay. */
export interface CurrentHolds {
  /** Those that still hold under the policy in force, longest first. */
  now(): Hold[];
  /** These were forgotten. */
  release(released: Released): void;
  close(): void;
}

export interface CurrentHoldsOptions {
  /** Default 10,000. */
  readonly most?: number;
  /** Default the system's. */
  readonly clock?: () => number;
}

type Watched = Pick<Gate, "on" | "policy" | "safelist">;

/** Told when a hold begins, and by every refusal for one: those in the store from before the start are learned so. */
export function currentHolds(gate: Watched, options: CurrentHoldsOptions = {}): CurrentHolds {
  const { most = 10_000, clock = Date.now } = options;
  const holds = new Map<string, Hold>();

  function keep({ rule, key, until, subject }: GateEvents["held"]): void {
    const name = nameOf({ rule, key });
    const known = holds.get(name);
    const since = known !== undefined && known.until > clock() ? known.since : clock();
    holds.set(name, { rule, key: cut(key), since, until, about: factsOf(subject) });
    // Not one by one: to find the shortest takes a look at all.
    if (holds.size > most * 1.1) prune();
  }

  function keepAgain(subject: Subject, { rule, key, shadow, heldUntil = 0, at }: Verdict): void {
    if (shadow || heldUntil <= at) return;
    // By this process's clock: the store's own may differ.
    const until = Math.ceil(clock() + heldUntil - at);
    const known = holds.get(nameOf({ rule, key }));
    if (known === undefined || until > known.until + 1_000) keep({ rule, key, until, subject });
  }

  function prune(): void {
    for (const [name, { until }] of holds) if (until <= clock()) holds.delete(name);
    const shortest = [...holds].sort(([, one], [, other]) => one.until - other.until);
    for (const [name] of shortest.slice(0, Math.max(0, holds.size - most))) holds.delete(name);
  }

  const stops = [
    gate.on("held", keep),
    gate.on("refused", ({ subject, decision: { reason, verdicts } }) => {
      if (reason === "held") for (const verdict of verdicts) keepAgain(subject, verdict);
    }),
  ];
  return {
    now() {
      prune();
      const holding = rulesThatHold(gate.policy);
      return [...holds.values()]
        .filter(({ rule, about: { ip } }) => holding.has(rule) && !isSafe(gate, ip))
        .sort((one, other) => other.until - one.until);
    },
    release(released) {
      for (const each of released) holds.delete(nameOf(each));
    },
    close() {
      for (const stop of stops) stop();
      holds.clear();
    },
  };
}

function nameOf({ rule, key }: { readonly rule: string; readonly key: string }): string {
  return `${rule}\n${cut(key)}`;
}

function rulesThatHold({ mode, rules }: Gate["policy"]): Set<string> {
  const isEnforced = (own: typeof mode = "enforce"): boolean => own === "enforce";
  const holding = isEnforced(mode) ? rules.filter((rule) => rule.hold && isEnforced(rule.mode)) : [];
  return new Set(holding.map(({ name }) => name));
}

function isSafe({ safelist }: Watched, ip: string | undefined): boolean {
  return ip !== undefined && safelist.find(ip) !== undefined;
}

/** Of headers only the user agent, of the path nothing behind the `?`: the rest may be secret. */
function factsOf(subject: Subject): OffenderFacts {
  const ip = canonicalBlock(subject.ip);
  const userAgent = cutIf(subject.header("user-agent"));
  return {
    ...(ip !== undefined && { ip }),
    host: cut(subject.host),
    method: cut(subject.method),
    path: pathOf(subject),
    ...(userAgent !== undefined && { userAgent }),
  };
}
