import { modeTag } from "../conflict/tags.js";
import type { Handler } from "../handler.js";
import type { EdgesAnswer } from "../types.js";

/** None where no edge is configured. */
export const edges: Handler<EdgesAnswer> = async ({ desk }) => ({
  body: { edges: ((await desk?.edges()) ?? []).map((edge) => ({ ...edge, etag: modeTag(edge) })) },
});
