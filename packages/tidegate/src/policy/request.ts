import { shown } from "../errors.js";
import type { DecideOptions } from "../gate.js";
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
  /** How the caller wants it judged. */
  readonly asked: DecideOptions | undefined;
  #readings: readonly string[] | undefined;

  constructor(subject: Subject, client: Client, at: number, asked?: DecideOptions) {
    this.subject = subject;
    this.client = client;
    this.at = at;
    this.asked = asked;
  }

  /** Some time later. */
  lookedAtAgain(at: number): ReceivedRequest {
    return new ReceivedRequest(this.subject, this.client, at, this.asked);
  }

  get readings(): readonly string[] {
    this.#readings ??= pathReadings(this.subject.path);
    return this.#readings;
  }
}

export function validateSubject(subject: unknown): void {
  if (typeof subject === "object" && subject !== null) return;
  throw new TypeError(
    `subject: ${shown(subject)} is not a request. Give { ip, method, host, path, header(name) }.`,
  );
}

const nothingKnown: Subject = { ip: "", method: "GET", host: "", path: "/", header: () => undefined };

function withoutUndefined(subject: Partial<Subject>): Partial<Subject> {
  return Object.fromEntries(Object.entries(subject).filter(([, fact]) => fact !== undefined));
}

/** A subject of which some facts may be missing, as a GET of `/`. */
export function wholeSubject(subject: Partial<Subject>): Subject {
  validateSubject(subject);
  const { method, host, path, header, ip } = subject;
  if (
    method !== undefined &&
    host !== undefined &&
    path !== undefined &&
    header !== undefined &&
    ip !== undefined
  )
    return subject as Subject;
  return { ...nothingKnown, ...withoutUndefined(subject) };
}

/** Thrown when a key needs a fact that was not given. */
export class MissingFact extends Error {}

/** A request of which only some facts are known. Asking for another throws `MissingFact`. */
export function partialRequest(facts: Partial<Subject>, tell: (ip: string) => Client): Request {
  const subject = new Proxy(
    {},
    {
      get(_, name) {
        if (!(name in facts)) throw new MissingFact(String(name));
        const fact = facts[name as keyof Subject];
        return typeof fact === "function" ? fact.bind(facts) : fact;
      },
    },
  ) as Subject;
  return {
    subject,
    get client() {
      const client = tell(subject.ip);
      // Those whose address can not be read share a key, which is nobody's to clear.
      if (client.address === undefined) throw new MissingFact("ip");
      return client;
    },
    get readings() {
      return pathReadings(subject.path);
    },
  };
}
