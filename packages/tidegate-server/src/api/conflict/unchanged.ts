import type { IncomingMessage } from "node:http";
import { ApiProblem, badRequest } from "../api-problem.js";
import { isSameTag } from "./tags.js";

/** How something is, before it is changed. */
export interface Standing {
  /** Undefined: it is not there. */
  readonly tag: string | undefined;
  /** As whoever came too late is told of it; null: it is not there. */
  readonly now: unknown;
}

/** Throws when whoever asks has seen it otherwise (`If-Match`, `If-None-Match`). Answers whether they said what they have seen. */
export function checkUnchanged({ headers }: Pick<IncomingMessage, "headers">, standing: Standing): boolean {
  const { "if-match": seen, "if-none-match": unseen } = headers;
  if (seen !== undefined && !names(tagsIn("If-Match", seen), standing.tag)) throw changedMeanwhile(standing);
  if (unseen !== undefined && names(tagsIn("If-None-Match", unseen), standing.tag))
    throw changedMeanwhile(standing);
  return seen !== undefined || unseen !== undefined;
}

export function changedMeanwhile({ tag, now }: Standing): ApiProblem {
  return new ApiProblem(
    {
      status: 412,
      code: "TG_CHANGED",
      detail:
        tag === undefined
          ? "It is not there, or not any more. Nothing was changed."
          : "It is another by now than you have seen. Nothing was changed.",
      help: "`now` is how it is. Look at it, and if your change still holds send it again with the ETag of this answer.",
      now: now ?? null,
    },
    tag === undefined ? {} : { ETag: tag },
  );
}

/** `"*"` names whatever is there. */
function names(tags: readonly string[], tag: string | undefined): boolean {
  return tag !== undefined && tags.some((each) => each === "*" || isSameTag(each, tag));
}

/** Proxies that compress mark a tag as weak; it names the same state. */
function tagsIn(header: string, text: string): string[] {
  const tags = text.split(",").map((each) => each.trim().replace(/^W\//, ""));
  if (tags.length <= 20 && tags.every((tag) => tag === "*" || /^"[\x21\x23-\x7e]{1,100}"$/.test(tag)))
    return tags;
  throw badRequest(header, "This is not an ETag.", "Send the ETag you were answered, with its quotes, or *.");
}
