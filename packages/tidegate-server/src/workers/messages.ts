import type { MetricObjectWithValues, MetricValue } from "prom-client";
import type { Hold, Released } from "../hold.js";
import type { KeptPage } from "../kept-request.js";
import type { ClientFilter, Refusal, RefusedClient } from "../refusal.js";
import type { FrontState, Server } from "../server.js";

/** What may be asked, in either direction, and what is answered. */
export interface Answers {
  /** Of a worker: all it measures. */
  metrics: readonly Metrics[];
  /** Of a worker, or of all the others by way of the parent: whether it had the decision and ended it. */
  finish: boolean;
  /** Of a worker: how it is. Undefined of one that does not say. */
  state: FrontState | undefined;
  /** Of a worker: a decision of its own that refused, as long as it remembers. Null, for undefined would not be sent. */
  refusal: Refusal | null;
  /** Of a worker: whom it refused lately. */
  "refused clients": readonly RefusedClient[];
  /** Of a worker: whom the rules hold, as far as it has seen. */
  holds: readonly Hold[];
  /** Of a worker: that it has taken note. */
  release: boolean;
  /** Of a worker: what it decided in the newest seconds. */
  series: Awaited<ReturnType<Server["series"]>> | null;
  /** Of a worker: some of the newest requests it met. */
  traffic: KeptPage;
  /** Of a worker: one of its busiest clients. Null: it is none of them. */
  "client series": NonNullable<Awaited<ReturnType<Server["clientSeries"]>>> | null;
}

export type Question =
  | { readonly kind: "metrics" }
  | { readonly kind: "finish"; readonly id: string; readonly status?: number }
  /** `most`: of the busiest clients. */
  | { readonly kind: "state"; readonly most: number }
  | { readonly kind: "refusal"; readonly id: string }
  | { readonly kind: "refused clients"; readonly filter: ClientFilter }
  | { readonly kind: "holds" }
  | { readonly kind: "release"; readonly released: Released }
  | { readonly kind: "series"; readonly seconds: number }
  | { readonly kind: "client series"; readonly key: string }
  /** So many from this number on. */
  | { readonly kind: "traffic"; readonly from: number; readonly most: number };

/** What a worker is told first: the configuration as its parent read it, so that one that takes another's place is like it. */
export interface Beginning {
  /** Neither: the demo's. */
  readonly config: { readonly file?: string; readonly text?: string };
}

export interface Asked {
  readonly number: number;
  readonly question: Question;
}

export interface Answered {
  readonly number: number;
  readonly answer: unknown;
}

export interface Ready {
  readonly urls: { readonly proxy?: string; readonly decide?: string };
}

/** Of a worker that has no configuration yet. */
export interface Waiting {
  readonly isWaiting: true;
}

/** Of a worker that can not start. */
export interface Failed {
  /** The error's message. */
  readonly failure: string;
}

/** To a worker: it lets what is under way end, and exits. */
export interface End {
  readonly isEnd: true;
}

/** What a worker says, and what it is told after its beginning. */
export type Message = Asked | Answered | Ready | Waiting | Failed;
export type Order = Asked | Answered | End;

export type Metrics = MetricObjectWithValues<MetricValue<string>>;
