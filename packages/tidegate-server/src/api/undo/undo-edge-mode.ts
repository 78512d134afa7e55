import type { AuditEntry } from "../../data.js";
import { type EdgeMode, edgeModes } from "../../edge.js";
import { setMode } from "../acts/edge-mode-act.js";
import type { Undoing } from "./undoing.js";

export function undoEdgeMode({ target, before, after }: AuditEntry): Undoing | undefined {
  const mode = edgeModes.find((each) => each === before);
  // Who said the same again, with another reason, changed nothing.
  if (target === undefined || mode === undefined || before === after) return undefined;
  const modeOf = (now: unknown): EdgeMode => (now as { mode: EdgeMode }).mode;
  return {
    role: "admin",
    isLeft: (now) => modeOf(now) === after,
    isBack: (now) => modeOf(now) === mode,
    undo: async (parts, act) => (await setMode(parts, target, mode, act)).noted,
  };
}
