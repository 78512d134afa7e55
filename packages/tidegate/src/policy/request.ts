import type { Subject } from "../subject.js";
import type { Client } from "./client.js";
import { pathReadings } from "./matching/path.js";

/** One request as rules see it. */
export interface Request {
  readonly subject: Subject;
  readonly client: Client;
  /** The readings of its path, see matching/path.ts. */
  readonly readings: readonly string[];
}

/** What several rules ask is found out once. */
export class ReceivedRequest implements Request {
  readonly subject: Subject;
  readonly client: Client;
  /** When it came, by the gate's clock. */
  readonly at: number;
  #readings: readonly string[] | undefined;

  constructor(subject: Subject, client: Client, at: number) {
    this.subject = subject;
    this.client = client;
    this.at = at;
  }

  get readings(): readonly string[] {
    this.#readings ??= pathReadings(this.subject.path);
    return this.#readings;
  }
}

/** Thrown when a key needs a fact that was not given. */
export class MissingFact extends Error {}

/** A request of which only some facts are known. Asking for another throws `MissingFact`. */
export function partialRequest(facts: Partial<Subject>, tell: (ip: string) => Client): Request {
  const known = new Map(Object.entries(facts));
  if (typeof facts.header === "function") known.set("header", facts.header.bind(facts));
  const subject = new Proxy(
    {},
    {
      get(_, name) {
        if (typeof name !== "string" || !known.has(name)) throw new MissingFact(String(name));
        return known.get(name);
      },
    },
  ) as Subject;
  return {
    subject,
    get client() {
      return tell(subject.ip);
    },
    get readings() {
      return pathReadings(subject.path);
    },
  };
}
