import type { Rendered } from "../../packages/tidegate-server/src/edges/render.js";
import { tidegate } from "./cli-rig.js";
import type { Rig } from "./decide-rig.js";
import { configFile, temporaryFolder } from "./running.js";

/** What `tidegate edge render` writes with no more than the server's file, which counts by the header X-Customer-Id. */
export async function renderByFile(kind: string, rig: Rig, ...flags: string[]): Promise<Rendered> {
  const config = configFile(
    temporaryFolder(),
    `listen: { proxy: false, decide: "127.0.0.1:${rig.port}" }
decide: { peers: [127.0.0.1] }
identify: { customer: X-Customer-Id }
policy: { rules: [{ name: api, by: customer, limits: [5 per hour] }] }
`,
  );
  const { stdout } = await tidegate(["edge", "render", kind, "--config", config, "--json", ...flags]);
  return JSON.parse(stdout);
}
