import type { EdgeStatus } from "../../control-desk.js";
import type { AuditEntry } from "../../data.js";
import type { EdgeMode } from "../../edge.js";
import { modeTag } from "../conflict/tags.js";
import { noSuchEdge } from "../edge-desk.js";
import type { AdminParts } from "../handler.js";
import { note } from "../note.js";
import { type Act, saidBy } from "./act.js";

/** Sets what people want of an edge. What they have said already is not said again. */
export function setMode(
  parts: AdminParts,
  name: string,
  mode: EdgeMode,
  act: Act,
): Promise<{ readonly edge: EdgeStatus; readonly before?: EdgeMode; readonly noted?: AuditEntry }> {
  const { desk } = parts;
  return parts.turn(`edge ${name}`, async () => {
    const now = (await desk?.edges())?.find(({ edge }) => edge === name);
    if (desk === undefined || now === undefined) throw await noSuchEdge(desk);
    act.check({ tag: modeTag(now), now: modeOf(now) });
    if (isSaid(now, mode, act)) return { edge: now };
    const { who, why } = act;
    const edge = await desk.setMode(name, mode, { who, ...(why !== undefined && { why }) });
    if (edge === undefined) throw await noSuchEdge(desk);
    const before = now.mode;
    const noted = await note(parts, {
      what: "edge.mode",
      target: name,
      ...saidBy(act),
      before,
      after: mode,
    });
    return { edge, ...(before !== mode && { before }), noted };
  });
}

function modeOf({ edge, mode, setBy }: EdgeStatus): Pick<EdgeStatus, "edge" | "mode" | "setBy"> {
  return { edge, mode, ...(setBy && { setBy }) };
}

/** To say `on` to an edge that stopped by itself is news, whatever was said before. */
function isSaid({ mode, stopped, setBy }: EdgeStatus, wanted: EdgeMode, { why }: Act): boolean {
  return mode === wanted && stopped === undefined && setBy?.why === why;
}
