import type { Decision, Verdict } from "../decision.js";
import type { Client } from "../policy/client.js";
import type { Subject } from "../subject.js";
import { ChangeBook } from "./change-book.js";
import { ClientBook, type NameOf } from "./client-book.js";
import { Distinct } from "./distinct.js";
import { KeyId } from "./key-id.js";
import { OutcomeTally } from "./outcome-tally.js";
import type { RehearsalOptions } from "./rehearsal.js";
import { type RuleBook, type RuleRow, ruleBook } from "./rule-book.js";
import { type Suggestions, suggestions } from "./suggestions.js";
import { TimeSeries } from "./time-series.js";
import { WorstSecond } from "./worst-second.js";

/** Facts of a request that few records hold. */
export const toldFacts = ["user", "customer", "account"] as const;
export type ToldFact = (typeof toldFacts)[number];

function isTold(fact: unknown): fact is ToldFact {
  return toldFacts.some((each) => each === fact);
}

/** The header a fact of a rule is in. */
function headerOf(fact: unknown): string[] {
  if (typeof fact !== "string") return [];
  if (fact.startsWith("header:")) return [fact.slice("header:".length).toLowerCase()];
  return fact.startsWith("cookie:") ? ["cookie"] : [];
}

/** What is counted of all requests, in bounded memory, and at no cost that grows with their number. */
export class RehearsalTally {
  requests = 0;
  late = 0;
  from = 0;
  to = 0;
  readonly rules: RuleBook;
  readonly clients: Distinct = new Distinct();
  readonly refused: ClientBook;
  readonly outcome: OutcomeTally = new OutcomeTally();
  readonly against: OutcomeTally | undefined;
  readonly change: ChangeBook | undefined;
  readonly series: TimeSeries;
  readonly recorded: WorstSecond = new WorstSecond();
  readonly passed: WorstSecond = new WorstSecond();
  readonly passedAgainst: WorstSecond = new WorstSecond();
  readonly suggestions: Suggestions | undefined;
  /** Whether any request told it. */
  readonly tells: Record<ToldFact, boolean> = { user: false, customer: false, account: false };
  /** Requests of which it is known what became; each has its number. */
  #ended = 0;
  /** Of the rule or list in hand, and of the address. */
  readonly #id = new KeyId();
  /** Headers that rules count by, and that no request told yet. */
  readonly #untold: Set<string>;
  readonly #address = new KeyId();

  constructor({ policy, against, suggest, points }: RehearsalOptions, nameOf?: NameOf) {
    this.rules = ruleBook(policy);
    this.#untold = new Set(policy.rules.flatMap(({ by }) => [by].flat().flatMap(headerOf)));
    this.refused = new ClientBook(nameOf);
    this.series = new TimeSeries(columns.rules + policy.rules.length, points ?? 600);
    if (against !== undefined) {
      this.against = new OutcomeTally();
      this.change = new ChangeBook();
    }
    if (suggest) this.suggestions = suggestions(suggest === true ? {} : suggest, policy);
  }

  /** Whether any request told this fact, as far as it can be known. */
  told(fact: unknown): boolean {
    if (isTold(fact)) return this.tells[fact];
    const [header] = headerOf(fact);
    return header !== undefined ? !this.#untold.has(header) : fact !== "apiKey";
  }

  /** A request came, whatever becomes of it. */
  come(at: number, isLate: boolean): void {
    if (this.requests === 0) this.from = at;
    this.requests++;
    this.to = at;
    if (isLate) this.late++;
    this.recorded.count(at);
  }

  /** What became of it under the policy, and under the other. */
  end(subject: Subject, client: Client, at: number, decision: Decision, other: Decision | undefined): void {
    this.#ended++;
    for (const fact of toldFacts) if (subject[fact] !== undefined) this.tells[fact] = true;
    for (const name of this.#untold) if (subject.header(name) !== undefined) this.#untold.delete(name);
    const address = this.#address;
    // Most policies begin with a rule by address: its key is then hashed already.
    this.#id.of(0, client.ip);
    address.copy(this.#id);
    this.clients.add(address.low, address.high);
    this.outcome.count(decision, address);
    const bucket = this.series.place(at);
    this.series.count(columns.requests, bucket);
    const { verdicts } = decision;
    const isRefused = !decision.allowed;
    for (let i = 0; i < verdicts.length; ) i = this.#judge(subject, at, verdicts, i, isRefused);
    if (!decision.allowed) {
      this.series.count(columns.refused, bucket);
      this.series.count(this.#refuse(subject, client, at, decision), bucket);
    }
    if (other === undefined) return;
    this.against?.count(other, address);
    if (!other.allowed) this.series.count(columns.refusedAgainst, bucket);
    this.change?.count(address, client.ip, subject, decision.allowed, other.allowed);
  }

  /** The verdicts of one rule under one key stand together. Answers where the next ones begin. */
  #judge(
    subject: Subject,
    at: number,
    verdicts: readonly Verdict[],
    from: number,
    isRefused: boolean,
  ): number {
    const { rule: name, key } = verdicts[from] as Verdict;
    const row = this.rules.of(name) as RuleRow;
    const id = this.#id;
    id.of(row.index + 1, key);
    let refuses = false;
    let i = from;
    for (; i < verdicts.length; i++) {
      const verdict = verdicts[i] as Verdict;
      if (verdict.rule !== name) break;
      if (!verdict.allowed) refuses = true;
      this.suggestions?.count(row.name, verdict, id, isRefused);
    }
    row.judge(this.#ended);
    this.refused.meet(id, subject);
    if (refuses) {
      row.refuse(this.#ended, at);
      row.clients.add(id.low, id.high);
    }
    return i;
  }

  /** Answers the column of who spoke. */
  #refuse(subject: Subject, client: Client, at: number, { verdict }: Decision): number {
    const id = this.#id;
    if (verdict === undefined) {
      id.of(0, client.ip);
      this.refused.meet(id, subject);
      this.refused.refuse(id, byList, client.ip, client, subject).refuse(at, 0);
      return columns.refusedByList;
    }
    const row = this.rules.of(verdict.rule) as RuleRow;
    id.of(row.index + 1, verdict.key);
    const heldMs = verdict.heldUntil === undefined ? 0 : verdict.heldUntil - verdict.at;
    this.refused.refuse(id, row.index, verdict.key, client, subject).refuse(at, heldMs);
    return columns.rules + row.index;
  }
}

/** In a client's row, in the place of a rule: the blocklist refused it. */
export const byList = -1;

/** Of the series; after the last each rule has its own. */
export const columns = {
  requests: 0,
  refused: 1,
  refusedAgainst: 2,
  refusedByList: 3,
  rules: 4,
} as const;
