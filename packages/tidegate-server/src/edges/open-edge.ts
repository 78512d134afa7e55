import type { Edge } from "../edge.js";
import type { EdgeSettings } from "../settings.js";

/** An edge by its settings. Nothing is asked of it yet: it may be out of reach for now. */
export async function openEdge(name: string, settings: EdgeSettings): Promise<Edge> {
  switch (settings.kind) {
    case "memory":
      return (await import("./memory/memory-edge.js")).memoryEdge({ ...settings, name });
    case "haproxy":
      return (await import("./haproxy/haproxy-edge.js")).haproxyEdge({ ...settings, name });
    case "varnish":
      return (await import("./varnish/varnish-edge.js")).varnishEdge({ ...settings, name });
    case "nginx":
      return (await import("./nginx-map/nginx-map-edge.js")).nginxMapEdge({ ...settings, name });
    case "fastly":
      return (await import("./fastly/fastly-edge.js")).fastlyEdge({ ...settings, name });
  }
}
