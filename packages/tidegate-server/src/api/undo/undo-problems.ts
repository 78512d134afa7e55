import type { AuditEntry } from "../../data.js";
import { ApiProblem } from "../api-problem.js";

export function neverUndone({ what }: AuditEntry): ApiProblem {
  const why = /^(?:safelist|blocklist)\./.test(what)
    ? "The entry would have ended by itself meanwhile, or the audit does not say how it was."
    : /^(?:customer|policy|edge\.mode)/.test(what)
      ? "The audit does not say that anything else was there before."
      : "What it did can not be taken back.";
  return new ApiProblem({
    status: 409,
    code: "TG_UNDO_NEVER",
    detail: `${why} Nothing was changed.`,
    help: "Lists, customers' tiers and limits, policies and modes of edges can be undone.",
  });
}

export function undoneAlready(by?: number): ApiProblem {
  return new ApiProblem({
    status: 409,
    code: "TG_UNDO_DONE",
    detail:
      by === undefined
        ? "It is already as it was before. Nothing was changed."
        : `It was undone already, by entry ${by}. Nothing was changed.`,
    help: by === undefined ? "Look at what is there now." : `To bring it back, undo entry ${by}.`,
  });
}

export function undoStale(now: unknown): ApiProblem {
  return new ApiProblem({
    status: 409,
    code: "TG_UNDO_STALE",
    detail: `It has changed again since: ${shown(now)}. Nothing was changed.`,
    help: 'To have it as it was before all the same, send {"force": true}.',
    now: now ?? null,
  });
}

/** In short; the whole stands in `now`. */
function shown(now: unknown): string {
  if (now === null || now === undefined) return "it is not there now";
  const text = JSON.stringify(now);
  return `it is now ${text.length > 300 ? `${text.slice(0, 300)}…` : text}`;
}
