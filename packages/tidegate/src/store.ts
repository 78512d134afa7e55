import type { Charge, Check } from "./check.js";
import type { Clock } from "./clock.js";
import type { Verdict } from "./decision.js";
import type { Directory } from "./directory.js";
import type { Docket } from "./docket.js";
import type { Limit } from "./limit.js";

/** A store answers at once or later; both are fine wherever a store is used. */
export type Answer<T> = T | Promise<T>;

/**
 * Where counts live. Five verbs, each one atomic act at one instant of the store's own clock.
 * A store never throws because a request is refused; it throws `StoreError` when it can not tell.
 */
export interface Store {
  /**
   * Judges every check. If all enforcing checks allow, all are charged. If any refuses, nothing is charged, except
   * limits that count refusals on purpose: those count the hit, whichever check refused it. A shadow check is charged
   * when it itself allows and no enforcing check refuses. Answers one verdict per check, in order.
   */
  decide(checks: readonly Check[], terms?: Terms): Answer<Verdict[]>;
  /**
   * `decide` of one check, without the lists around question and answer, for stores that answer at once. A limiter of one
   * limit prefers it: whoever wraps a store and changes `decide` changes this too, or leaves it out.
   */
  decideOne?(check: Check): Verdict;
  /**
   * `decide` of a whole docket at this time, for stores that answer at once, where all that it asks about is known and
   * allows. Undefined, with nothing done, where there is more to it: then `decide` is asked with its checks.
   */
  decideDocket?(docket: Docket, now: number): Verdict[] | undefined;
  /**
   * `decide` of a whole docket, for this library's own stores that answer later, and by the deadline. The docket stays as it
   * is. Undefined, with nothing done, where it has to be asked about check by check.
   */
  askDocket?(docket: Docket, deadlineMs: number): Promise<Verdict[]> | undefined;
  /** Judges without a trace: writes nothing. */
  peek(checks: readonly Check[], terms?: Terms): Answer<Verdict[]>;
  /** Gives charges back, never more than the current window still holds of them. */
  refund(charges: readonly Charge[], terms?: Terms): Answer<void>;
  /** Refuses the rule's key for so long, whatever its limits say. */
  hold(rule: string, key: string, forMs: number, terms?: Terms): Answer<void>;
  /** Drops everything known of these checks' keys under their rules: counts and hold. */
  forget(checks: readonly Check[], terms?: Terms): Answer<void>;
  /** True when the store itself rejects in time what it can not answer by the deadline; others are raced against it. */
  readonly keepsDeadlines?: boolean;
  /** Throws a `ConfigError` for a limit this store can not keep. Asked when a limiter is made. */
  accept?(limit: Limit): void;
  /** Lists and customers kept beside the counts. Asked once, when a gate is made. */
  openDirectory?(): Directory;
  /** The clock it was handed, if any: what stands beside it then tells the same time. */
  readonly clock?: Clock;
  close?(): Answer<void>;
}

/** How a store of this library decides. */
export interface OwnWay {
  readonly decide: Store["decide"];
  /** It answers at once, never fails and never lies: its word needs no second look. */
  readonly isSure: boolean;
}

const ownWays = new WeakMap<Store, OwnWay>();

/** Says of a store that what it does with dockets is what its `decide` does, for as long as that is the one it has now. */
export function declareOwn(store: Store, { isSure }: Pick<OwnWay, "isSure">): void {
  ownWays.set(store, { decide: store.decide, isSure });
}

/** Undefined for whatever stands in front of such a store, and for any other. */
export function ownWay(store: Store): OwnWay | undefined {
  return ownWays.get(store);
}

export interface Terms {
  /** The caller has its answer elsewhere after this many milliseconds: from then on the call must have no effect. */
  readonly deadlineMs?: number;
  /** The time by the store's own clock, where the caller has just read it. Heeded by stores of the same process. */
  readonly at?: number | undefined;
  /**
   * The caller answers for it that keys and costs are valid, hashes those of their keys, and that checks of one rule agree
   * as they must: the memory store does not look them over. Whoever changes checks on their way does not pass it on.
   */
  readonly areSound?: boolean;
}
