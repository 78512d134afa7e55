import { entryAt } from "../acts/list-acts.js";
import { notFound } from "../api-problem.js";
import { entryTag } from "../conflict/tags.js";
import type { Handler } from "../handler.js";
import { listNamed } from "../list-named.js";
import type { ListEntryAnswer } from "../types.js";

export const listEntry: Handler<ListEntryAnswer> = async (parts, { param }) => {
  const list = listNamed(param("list"));
  const entry = await entryAt(parts, list, param("address"));
  if (entry === undefined)
    throw notFound(
      `The ${list} has no such entry.`,
      `GET /v1/lists/${list} lists them; a block is named as a whole.`,
    );
  return { body: { list, entry }, etag: entryTag(entry) };
};
