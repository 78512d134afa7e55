import type { Edge } from "../edge.js";
import type { EdgeSettings, NginxEdgeSettings } from "../settings.js";
import { openEdge } from "./open-edge.js";

/** An edge that another process keeps, opened to be read. Undefined: it is in that process, and nowhere else. */
export function readEdge(name: string, settings: EdgeSettings): (() => Promise<Edge>) | undefined {
  switch (settings.kind) {
    case "memory":
      return undefined;
    case "haproxy":
      return () => openEdge(name, { ...settings, keepsFiles: false });
    case "nginx":
      return () => readNginx(name, settings);
    default:
      return () => openEdge(name, settings);
  }
}

/** Whoever keeps it tells nginx what the file has not been told of; who only reads it does not even have to reach nginx. */
async function readNginx(name: string, settings: NginxEdgeSettings): Promise<Edge> {
  const [edge, { parseHeldFile }, { readWhole }] = await Promise.all([
    openEdge(name, settings),
    import("./nginx-map/held-file.js"),
    import("./nginx-map/whole-file.js"),
  ]);
  return {
    ...edge,
    async current() {
      const { ours, foreign, epoch = "" } = parseHeldFile((await readWhole(settings.file)) ?? "");
      const now = Date.now();
      const entries = [...ours].map(([key, end]) => [key, end * 1_000] as const);
      return { entries: new Map(entries.filter(([, until]) => until > now)), foreign: foreign.size, epoch };
    },
  };
}
