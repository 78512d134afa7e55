import type { Policy } from "tidegate";
import type { KeptRequest } from "../kept-request.js";

/** What recent traffic, as it is kept, can not tell. */
export function recentNotes({ rules }: Policy, requests: readonly KeptRequest[]): string[] {
  const blind = rules.filter(({ by }) => [by].flat().some(isNotKept)).map(({ name }) => name);
  const counts = rules.some(({ count = "all" }) => count !== "all");
  const isUntold = counts && requests.some(({ status }) => status === undefined);
  return [
    "Rehearsed on the newest requests this server met; lists and customers are those of now, and every count begins at zero.",
    ...(blind.length === 0
      ? []
      : [
          `Of headers only the user agent is kept, so these rules could not be judged as they will be: ${blind.join(", ")}.`,
        ]),
    ...(isUntold
      ? [
          "How some requests ended is not known: refused ones, and those whose client left. They count as unanswered.",
        ]
      : []),
  ];
}

function isNotKept(by: unknown): boolean {
  return typeof by === "string" && (by === "apiKey" || by.startsWith("header:") || by.startsWith("cookie:"));
}
