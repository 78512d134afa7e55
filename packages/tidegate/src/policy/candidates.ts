import type { Subject } from "../subject.js";
import { hostClasses } from "./matching/host.js";
import { namedInPlace } from "./matching/match.js";
import { Places } from "./matching/places.js";
import type { Rule } from "./rules.js";

/** A rule to ask about a request. */
export interface Candidate {
  readonly rule: Rule;
  /** Undefined: only the request itself tells, by the rule's `matches`. */
  readonly applies: boolean | undefined;
}

/**
 * Which of a policy's rules may apply to a request. Where they name methods, hosts and paths, it depends on where the
 * path lies among those the rules name: it is walked down once, however many rules there are, and remembered there.
 */
export class Candidates {
  readonly #rules: readonly Rule[];
  /** Rules that method, host and path alone decide about. */
  readonly #inPlace = new Set<Rule>();
  /** Methods that some rule names, numbered from 1: to all others, 0, the same rules apply. */
  readonly #methods = new Map<string, number>();
  readonly #hostClass: (host: string) => number;
  readonly #namesHosts: boolean;
  readonly #places = new Places();
  readonly #found: readonly Found[];
  /** Where nothing is known of a request but itself. */
  readonly #anywhere: readonly Candidate[];

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    const hosts = new Set<string>();
    for (const rule of rules) {
      const named = namedInPlace(rule.options);
      if (named === undefined) continue;
      this.#inPlace.add(rule);
      for (const host of named.hosts) hosts.add(host);
      for (const path of named.paths) this.#places.add(path);
      for (const method of named.methods)
        if (!this.#methods.has(method)) this.#methods.set(method, this.#methods.size + 1);
    }
    this.#hostClass = hostClasses([...hosts]);
    this.#namesHosts = hosts.size > 0;
    this.#found = Array.from({ length: this.#places.count }, () => new Found());
    this.#anywhere = rules.map((rule) => ({ rule, applies: rule.matches === undefined || undefined }));
  }

  /** In the policy's order. Rules left out do not apply, and hold nobody elsewhere either. */
  of(subject: Subject): readonly Candidate[] {
    if (this.#found.length === 1) return this.#at(0, subject);
    // Read in several ways, or without case, a path has no one place.
    const place = subject.ignoresCase === true ? -1 : this.#places.find(subject.path);
    return place < 0 ? this.#anywhere : this.#at(place, subject);
  }

  /** Asks for nothing that no rule names: some facts of a request cost more to find out than all the rest. */
  #at(place: number, subject: Subject): readonly Candidate[] {
    const found = this.#found[place] as Found;
    const method = this.#methods.size === 0 ? "" : subject.method;
    const host = this.#namesHosts ? subject.host : "";
    if (typeof method !== "string" || typeof host !== "string") return this.#anywhere;
    if (found.last !== undefined && found.method === method && found.host === host) return found.last;
    const kind = this.#hostClass(host) * (this.#methods.size + 1) + this.#methodClass(method);
    let candidates = found.byKind.get(kind);
    if (candidates === undefined) {
      const example = { ip: "", method, host, path: this.#places.pathOf(place), header: () => undefined };
      candidates = this.#rules.flatMap((rule) => this.#candidate(rule, example));
      found.byKind.set(kind, candidates);
    }
    found.method = method;
    found.host = host;
    found.last = candidates;
    return candidates;
  }

  #methodClass(method: string): number {
    return method === "" ? 0 : (this.#methods.get(method) ?? this.#methods.get(method.toUpperCase()) ?? 0);
  }

  #candidate(rule: Rule, subject: Subject): Candidate[] {
    if (rule.matches === undefined) return [{ rule, applies: true }];
    if (!this.#inPlace.has(rule)) return [{ rule, applies: undefined }];
    const applies = rule.matches(subject, [subject.path]);
    return applies || rule.ladder?.isEverywhere ? [{ rule, applies }] : [];
  }
}

/** What applies at a place, by method and host; what was asked for last needs no looking up. */
class Found {
  readonly byKind = new Map<number, readonly Candidate[]>();
  method: string | undefined = undefined;
  host: string | undefined = undefined;
  last: readonly Candidate[] | undefined = undefined;
}
