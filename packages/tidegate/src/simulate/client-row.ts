import type { Subject } from "../subject.js";
import type { ClientReport } from "./rehearsal.js";

export interface ClientFacts {
  /** The rule's place in the policy. */
  readonly rule: number;
  readonly client: string;
  readonly address: string;
  readonly userAgent: string;
  /** Sent so far. */
  readonly requests: number;
}

/** What is remembered of one client that was refused: how often, and what it looks like. */
export class ClientRow {
  readonly rule: number;
  readonly client: string;
  readonly address: string;
  readonly userAgent: string;
  requests: number;
  refused = 0;
  firstRefusedAt = 0;
  lastRefusedAt = 0;
  longestHoldMs = 0;
  /** Requests since its first refusal, and how many of them were for what pages are made of, or came from a page. */
  watched = 0;
  parts = 0;
  referred = 0;
  /** Bits set by the hash of each user agent and of each user. */
  readonly agents: Bits = new Bits();
  readonly users: Bits = new Bits();

  constructor({ rule, client, address, userAgent, requests }: ClientFacts) {
    this.rule = rule;
    this.client = client;
    this.address = address;
    this.userAgent = userAgent;
    this.requests = requests;
  }

  watch(subject: Subject): void {
    this.watched++;
    if (partOfPage.test(subject.path)) this.parts++;
    const referer = subject.header("referer");
    if (referer !== undefined && referer !== "" && referer !== "-") this.referred++;
    const agent = subject.header("user-agent");
    if (agent !== undefined && agent !== this.userAgent) this.agents.add(agent);
    if (subject.user !== undefined) this.users.add(String(subject.user));
  }

  refuse(at: number, heldMs: number): void {
    if (this.refused === 0) this.firstRefusedAt = at;
    this.refused++;
    this.lastRefusedAt = at;
    if (heldMs > this.longestHoldMs) this.longestHoldMs = heldMs;
  }

  report(rule: string): ClientReport {
    const { client, address, requests, refused, firstRefusedAt, lastRefusedAt, longestHoldMs, userAgent } =
      this;
    return {
      client,
      address,
      rule,
      ...(userAgent !== "" && { userAgent }),
      requests,
      refused,
      share: Math.min(1, refused / Math.max(1, requests)),
      firstRefusedAt,
      lastRefusedAt,
      longestHoldMs: Math.round(longestHoldMs),
    };
  }
}

/** What a browser fetches for a page beside the page. */
const partOfPage = /\.(?:css|m?js|png|jpe?g|gif|svg|webp|avif|ico|woff2?|ttf|map)(?:[?#]|$)/i;

/** Estimates how many distinct texts there were, up to some hundred, in two words. */
export class Bits {
  #low = 0;
  #high = 0;

  add(text: string): void {
    const bit = hashOf(text) & 63;
    if (bit < 32) this.#low |= 1 << bit;
    else this.#high |= 1 << (bit - 32);
  }

  get count(): number {
    const set = ones(this.#low) + ones(this.#high);
    return Math.round(64 * Math.log(64 / Math.max(0.5, 64 - set)));
  }
}

/** FNV-1a, and its halves together: nothing hangs on who can choose collisions here. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 16) ^ (hash >>> 7)) >>> 0;
}

function ones(word: number): number {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count++;
  return count;
}
