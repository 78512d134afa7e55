import { noSuchEdge } from "../edge-desk.js";
import type { Handler } from "../handler.js";
import { note } from "../note.js";
import { edgeModeBody, parseAs } from "../shapes.js";
import type { EdgeModeAnswer } from "../types.js";

export const setEdgeMode: Handler<EdgeModeAnswer> = async (parts, ask) => {
  const { desk } = parts;
  const name = ask.param("name");
  const { mode, why } = parseAs(edgeModeBody, await ask.body(), "body");
  const who = ask.who();
  const reason = why === undefined ? {} : { why };
  const before = (await desk?.edges())?.find(({ edge }) => edge === name)?.mode;
  const edge = await desk?.setMode(name, mode, { who, ...reason });
  if (edge === undefined) throw await noSuchEdge(desk);
  await note(parts, { who, what: "edge.mode", target: name, ...reason, before, after: mode });
  return { body: { edge } };
};
