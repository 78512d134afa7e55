import { noSuchEdge } from "../edge-desk.js";
import type { Handler } from "../handler.js";
import { note } from "../note.js";
import { edgeSyncBody, parseAs } from "../shapes.js";
import type { EdgeSyncAnswer } from "../types.js";

/** Of the edge the path names, or of all. A dry run changes nothing, and leaves no entry. */
export const syncEdges: Handler<EdgeSyncAnswer> = async (parts, ask) => {
  const { desk } = parts;
  const name = ask.param("name");
  const { dryRun = false } = parseAs(edgeSyncBody, await ask.body(), "body");
  const who = ask.who();
  const reports = await desk?.sync({ isDryRun: dryRun, ...(name !== "" && { edge: name }) });
  if (reports === undefined) throw await noSuchEdge(desk, name);
  if (!dryRun)
    await note(parts, {
      who,
      what: "edge.sync",
      ...(name !== "" && { target: name }),
      after: reports.map(({ edge, put, remove, keeper, problem }) => ({
        edge,
        put: put.length,
        remove: remove.length,
        ...(keeper !== undefined && { keeper }),
        ...(problem !== undefined && { problem }),
      })),
    });
  return { body: { reports } };
};
