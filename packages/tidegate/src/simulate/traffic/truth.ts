import type { RecordedRequest } from "../rehearsal.js";

/** What a client of the model really is. */
export interface Truth {
  /** Its name, of which no log knows: one person or machine, whatever addresses it sends from. */
  readonly client: string;
  readonly who: Who;
  /** What it does that nobody wants. Undefined: an ordinary client, who should never be refused. */
  readonly abuse?: Abuse;
  /** Abusive, but made to look like ordinary clients, one by one: no limit can be asked to tell them apart. */
  readonly isHard: boolean;
}

export type Who =
  | "user"
  | "campus"
  | "crawler"
  | "monitor"
  | "api-client"
  | "scraper"
  | "insider"
  | "prober"
  | "brute-forcer"
  | "hammerer"
  | "flooder";

/**
 * `scraping`: copies the site. `probing`: looks for holes. `guessing`: tries passwords. `hammering`: one page again and
 * again. `flooding`: more of the API than was agreed, or without a key.
 */
export type Abuse = "scraping" | "probing" | "guessing" | "hammering" | "flooding";

/** A request of the model, with the truth beside it. */
export interface ModelledRequest extends RecordedRequest {
  readonly outcome: { readonly status: number };
  readonly truth: Truth;
}

/** Requests of one client, or of clients of one kind, in the order of time. */
export type Sequence = Generator<ModelledRequest, void, undefined>;
