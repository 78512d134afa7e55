import { modeTag } from "../conflict/tags.js";
import { noSuchEdge } from "../edge-desk.js";
import type { Handler } from "../handler.js";
import type { EdgeModeAnswer } from "../types.js";

/** Its tag is of what people set; the rest changes by itself. */
export const edge: Handler<EdgeModeAnswer> = async ({ desk }, { param }) => {
  const found = (await desk?.edges())?.find(({ edge }) => edge === param("name"));
  if (found === undefined) throw await noSuchEdge(desk);
  return { body: { edge: found }, etag: modeTag(found) };
};
