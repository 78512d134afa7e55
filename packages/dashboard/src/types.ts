/** The API's answers, as the server declares them. Types only: nothing of the server comes along. */
export type * from "../../tidegate-server/src/api/types.ts";
