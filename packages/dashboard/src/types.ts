/** The API's answers, as the server declares them. Types only: nothing of the server comes along. */
export type * from "../../tidegate-server/src/api/types.ts";
/** What a report of logs was made from. */
export type { InputFacts } from "../../tidegate-server/src/rehearse/input-facts.ts";
