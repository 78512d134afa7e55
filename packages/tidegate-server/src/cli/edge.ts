import { examples, type Verbs } from "./cli.js";
import { addEdgeModes } from "./edge-mode.js";
import { addEdgeOffenders } from "./edge-offenders.js";
import { addEdgeRender } from "./edge-render.js";
import { addEdgeSetup } from "./edge-setup.js";
import { addEdgeStatus } from "./edge-status.js";
import { addEdgeSync } from "./edge-sync.js";

export const addEdge: Verbs = (program, act) => {
  const edge = program
    .command("edge")
    .summary("what stands in front: how it is, what it is told")
    .description(
      "Places in front that refuse who is held, before a request comes here, and other proxies that ask first.",
    )
    .addHelpText(
      "after",
      examples("tidegate edge status", "tidegate edge render caddy --config tidegate.yaml"),
    );
  addEdgeStatus(edge, act);
  addEdgeOffenders(edge, act);
  addEdgeModes(edge, act);
  addEdgeSync(edge, act);
  addEdgeRender(edge, act);
  addEdgeSetup(edge, act);
};
