import { z } from "zod";
import { duration, map, whole } from "./shapes.js";

const secretHelp = `Write a text, best one of the environment: "\${NAME}".`;

function kind<Name extends string>(name: Name, description: string) {
  return z.literal(name).meta({ description });
}

function text(help: string, description: string) {
  return z.string({ error: help }).meta({ description });
}

function maxEntries(usual: number) {
  return whole(1, 1_000_000)
    .default(usual)
    .meta({ description: "Entries it takes, others' included. When it is full the worst stay." });
}

const memory = map({
  kind: kind("memory", "A list in this process, for tests."),
  maxEntries: maxEntries(10_000),
});

const haproxy = map({
  kind: kind("haproxy", "HAProxy's maps, over its runtime API."),
  socket: text(
    "Write a path such as /run/haproxy/admin.sock, or 127.0.0.1:9999.",
    "The runtime API (level admin): a path, or host:port.",
  ),
  maps: text(
    "Write the folder of the maps, e.g. /etc/haproxy/tidegate.",
    "The folder of the maps, as HAProxy's configuration names it.",
  ),
  keepsFiles: z.boolean().optional().meta({
    description:
      "Writes the maps' files too, so that a reload loses nothing. Default true where that folder is on this machine.",
  }),
  maxEntries: maxEntries(100_000),
});

const varnish = map({
  kind: kind("varnish", "Varnish's own cache, as a table."),
  url: text(
    "Write an origin, e.g. http://127.0.0.1:6091.",
    "Where Varnish takes orders, as scheme, host and port.",
  ),
  token: z
    .string({ error: secretHelp })
    .optional()
    .meta({ description: "Proves that an order is ours; as the VCL was rendered with." }),
  maxEntries: maxEntries(10_000),
});

const nginx = map({
  kind: kind("nginx", "A file of addresses that nginx includes, and a reload."),
  file: text(
    "Write the path of the file nginx includes, e.g. /etc/nginx/tidegate/held.conf.",
    "The file of held addresses that nginx includes.",
  ),
  pidFile: z
    .string({ error: "Write the path of nginx's pid file, e.g. /run/nginx.pid." })
    .default("/run/nginx.pid")
    .meta({ description: "Where nginx's process is named, to be told to reload." }),
  reload: duration().default("1s").meta({ description: "At least so long between two reloads." }),
  maxEntries: maxEntries(10_000),
});

const fastly = map({
  kind: kind("fastly", "Fastly's dictionaries, over its API."),
  service: text("Write the service's id, e.g. SU1Z0isxPaozGVKXdv0eY.", "The id of the service."),
  token: z
    .string({ error: secretHelp })
    .meta({ description: "Of an automation user of its own: writes are limited by the hour." }),
  prefix: z
    .string({ error: "Write a name such as tidegate." })
    .default("tidegate")
    .meta({ description: "Dictionaries are named <prefix>_0 and so on, <prefix>_conf beside them." }),
  shards: whole(1, 16)
    .default(16)
    .meta({ description: "How many dictionaries: 1, 2, 4, 8 or 16, as the VCL was rendered with." }),
  maxItems: whole(1, 100_000).default(1000).meta({ description: "Items one dictionary takes." }),
  api: z
    .string({ error: "Write an origin, e.g. https://api.fastly.com." })
    .default("https://api.fastly.com")
    .meta({ description: "Where the API is." }),
  canary: z
    .string({ error: "Write a URL of the service, e.g. https://www.example.com/.tidegate/canary." })
    .optional()
    .meta({
      description: "A URL of the service that tells the canary: how long a change takes is measured by it.",
    }),
});

const edge = z.discriminatedUnion("kind", [memory, haproxy, varnish, nginx, fastly]);

export const edgesShape = z
  .record(z.string(), edge, {
    error: "Write a map of names: cdn: { kind: varnish, url: http://127.0.0.1:6091 }.",
  })
  .default({})
  .meta({ description: "Places that refuse offenders before their requests come here, by name." });

export type EdgeShape = z.output<typeof edge>;
