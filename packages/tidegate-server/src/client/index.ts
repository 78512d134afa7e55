/** `tidegate-server/client`: asks a decision service from Node. */
export { type DecideClient, type DecideClientOptions, decideClient } from "./decide-client.js";
export type { AnsweredDecision, AskedOfMany, AskedSubject, AskOptions } from "./types.js";
