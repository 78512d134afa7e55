import { setMode } from "../acts/edge-mode-act.js";
import { modeTag } from "../conflict/tags.js";
import { checkUnchanged } from "../conflict/unchanged.js";
import type { Handler } from "../handler.js";
import { edgeModeBody, parseAs } from "../shapes.js";
import type { EdgeModeAnswer } from "../types.js";

export const setEdgeMode: Handler<EdgeModeAnswer> = async (parts, ask) => {
  const { mode, why } = parseAs(edgeModeBody, await ask.body(), "body");
  const { edge, before } = await setMode(parts, ask.param("name"), mode, {
    who: ask.who(),
    ...(why !== undefined && { why }),
    check: (standing) => checkUnchanged(ask.req, standing),
  });
  return { body: { edge, ...(before && { before }) }, etag: modeTag(edge) };
};
