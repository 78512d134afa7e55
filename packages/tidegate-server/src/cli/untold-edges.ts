import type { EdgesAnswer } from "../api/types.js";
import type { Cli, Flags } from "./cli.js";
import { usageError } from "./exit.js";

/** Straight on Redis, without the server's file, edges are known from whoever keeps them: nobody known is no answer. */
export async function refuseUntoldEdges(cli: Cli, { config }: Flags): Promise<void> {
  const admin = cli.admin();
  if (admin.url !== "Redis" || config !== undefined) return;
  const { edges } = (await admin.get("/v1/edges")) as EdgesAnswer;
  if (edges.length > 0) return;
  throw usageError(
    "No edge is known here: no server has said anything of one lately.",
    "Add --config with the server's file, which names its edges.",
  );
}
