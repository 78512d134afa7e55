/** One request as it is remembered for rehearsals: the facts rules count by, no secret among them. */
export interface KeptRequest {
  /** When it was decided, in milliseconds since the epoch. */
  readonly at: number;
  readonly ip: string;
  readonly method: string;
  readonly host: string;
  /** Without its query. */
  readonly path: string;
  readonly userAgent?: string | undefined;
  readonly user?: string | undefined;
  readonly customer?: string | undefined;
  /** Only where a rule in force counted by it. */
  readonly account?: string | undefined;
  /** Of the answer; undefined where it is not known. */
  readonly status?: number | undefined;
  /** Until the answer had ended. */
  readonly tookMs?: number | undefined;
}

/** Some of them, oldest first. */
export interface KeptPage {
  readonly requests: readonly KeptRequest[];
  /** What to ask for next; undefined: these were the newest. */
  readonly next?: number;
}
