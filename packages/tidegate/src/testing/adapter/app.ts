import type { Decision } from "../../decision.js";

/** What the app behind the gate answers, in no framework's words. */
export interface AppAnswer {
  readonly status?: number;
  /** Sent as `text/plain`, at once or piece by piece. */
  readonly body: string | AsyncIterable<string>;
}

/** The app: told what `decisionOf` says of the request. It may throw. */
export type App = (decision: Decision | undefined) => AppAnswer | Promise<AppAnswer>;

export const hello: App = () => ({ body: "Hello World!" });
