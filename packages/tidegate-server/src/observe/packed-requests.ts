import type { KeptRequest } from "../kept-request.js";
import { longestFact } from "./kept-facts.js";

/**
 * The newest requests as bytes, oldest out first. As objects each would outlive a few collections of garbage and be copied
 * by each, which every request then waits for.
 */
export interface PackedRequests {
  /** How many came, those let go included. The next one gets this number. */
  readonly total: number;
  add(request: KeptRequest): void;
  /** How the one of this number ended, if it is still there. */
  end(number: number, status: number | undefined, at: number): void;
  /** Undefined: let go, or not there yet. */
  get(number: number): KeptRequest | undefined;
  clear(): void;
}

export function packedRequests(keep: number): PackedRequests {
  let pages: Page[] = [];
  let total = 0;

  function pageOf(number: number): Page | undefined {
    if (number < total - keep) return undefined;
    for (let i = pages.length - 1; i >= 0; i--) {
      const page = pages[i] as Page;
      if (number >= page.first) return page;
    }
    return undefined;
  }

  /** A page that nobody reads any more is written over: thrown away it would lie in the old generation, for a full collection to find. */
  function turn(): Page {
    let page: Page | undefined;
    while (pages[1] !== undefined && pages[1].first <= total - keep) page = pages.shift();
    page ??= new Page(Math.min(keep, mostInPage));
    page.begin(total);
    pages.push(page);
    return page;
  }

  return {
    get total() {
      return total;
    },
    add(request) {
      if (pages.at(-1)?.add(request) !== true) turn().add(request);
      total++;
    },
    end(number, status, at) {
      if (number < total) pageOf(number)?.end(number, status, at);
    },
    get(number) {
      return number < total ? pageOf(number)?.get(number) : undefined;
    },
    clear() {
      pages = [];
    },
  };
}

const mostInPage = 512;
/** About what so many take; a page whose texts are longer holds fewer. */
const bytesEach = 256;
const texts = ["ip", "method", "host", "path", "userAgent", "user", "customer", "account"] as const;
const unknown = 0xffff;

class Page {
  first = 0;
  readonly #most: number;
  readonly #bytes: Buffer;
  /** Where each one's bytes end. */
  readonly #ends: Uint32Array;
  /** Of each text of each one, in characters. */
  readonly #lengths: Uint16Array;
  readonly #ats: Float64Array;
  readonly #endAts: Float64Array;
  readonly #statuses: Uint16Array;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(most * bytesEach, longestRequest));
    this.#ends = new Uint32Array(most);
    this.#lengths = new Uint16Array(most * texts.length);
    this.#ats = new Float64Array(most);
    this.#endAts = new Float64Array(most);
    this.#statuses = new Uint16Array(most);
  }

  /** Empty, for those from this number on. */
  begin(first: number): void {
    this.first = first;
    this.#count = 0;
    this.#statuses.fill(0);
    this.#endAts.fill(0);
  }

  /** False: there is no room. */
  add(request: KeptRequest): boolean {
    const at = this.#count;
    if (at === this.#most) return false;
    const start = at === 0 ? 0 : (this.#ends[at - 1] as number);
    if (this.#bytes.length - start < longestRequest) return false;
    let all = "";
    for (let i = 0; i < texts.length; i++) {
      const text = request[texts[i] as (typeof texts)[number]];
      this.#lengths[at * texts.length + i] = text === undefined ? unknown : text.length;
      if (text !== undefined) all += text;
    }
    this.#ends[at] = start + this.#bytes.write(all, start, "utf8");
    this.#ats[at] = request.at;
    this.#count++;
    return true;
  }

  end(number: number, status: number | undefined, at: number): void {
    this.#statuses[number - this.first] = status ?? 0;
    this.#endAts[number - this.first] = at;
  }

  get(number: number): KeptRequest {
    const at = number - this.first;
    const start = at === 0 ? 0 : (this.#ends[at - 1] as number);
    const all = this.#bytes.toString("utf8", start, this.#ends[at]);
    const endedAt = this.#endAts[at] as number;
    let from = 0;
    const text = (name: (typeof texts)[number]): string | undefined => {
      const length = this.#lengths[at * texts.length + texts.indexOf(name)] as number;
      if (length === unknown) return undefined;
      from += length;
      return all.slice(from - length, from);
    };
    const must = (name: "ip" | "method" | "host" | "path"): string => text(name) ?? "";
    return {
      at: this.#ats[at] as number,
      ip: must("ip"),
      method: must("method"),
      host: must("host"),
      path: must("path"),
      userAgent: text("userAgent"),
      user: text("user"),
      customer: text("customer"),
      account: text("account"),
      status: this.#statuses[at] || undefined,
      tookMs: endedAt === 0 ? undefined : endedAt - (this.#ats[at] as number),
    };
  }
}

/** Every text at its longest, each character of three bytes. */
const longestRequest = texts.length * longestFact * 3;
