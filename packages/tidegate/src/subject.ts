/** What is known of one request. Adapters make it; the gate believes it. */
export interface Subject {
  /** The client's resolved address, as text; the gate brings it into canonical form. */
  readonly ip: string;
  readonly method: string;
  readonly host: string;
  /** As sent, with or without the query. */
  readonly path: string;
  /** The app takes `/API` for `/api`, as Express does: then a rule for one is a rule for both. */
  readonly ignoresCase?: boolean;
  /** A request header by its name in any case; several lines joined by a comma. */
  header(name: string): string | undefined;
  /** Authenticated facts: whatever stands here is believed, so only the app may put it here. */
  readonly user?: string | undefined;
  readonly customer?: string | undefined;
  /** A claimed name, believed by nobody: of a login form, or of basic auth. */
  readonly account?: string | undefined;
}

/** How a request ended. Without a status nobody answered. */
export interface Outcome {
  readonly status?: number;
}
