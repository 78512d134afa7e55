import { z } from "zod";
import { controlShape, decisionLogShape } from "./control-shape.js";
import { edgesShape } from "./edges-shape.js";
import { policyShape } from "./policy-shape.js";
import { duration, map, section, texts, whole } from "./shapes.js";

const addressHelp =
  'Write host:port, e.g. 127.0.0.1:8080 or "[::1]:8080", a port alone for loopback, or false to leave it out.';
const hostsHelp = "Write names without scheme or port, e.g. [tidegate.internal].";
const proxiesHelp = "Write a list of addresses, blocks or words, e.g. [10.0.0.0/8, loopback].";
const headerHelp = "Write the name of a header, e.g. X-User-Id.";
const accountHelp = "Write the name of a header, or the field of the login form: { field: email }.";
const fieldName = z
  .string({ error: "Write the name of the field, e.g. email." })
  .min(1)
  .max(128)
  .meta({ description: "Of form and JSON bodies of at most 16 kB; in JSON at the top." });
const secretHelp = `Write a text, best one of the environment: "\${NAME}".`;
const urlHelp = "Write an origin, e.g. http://127.0.0.1:3000.";

function address(port: number) {
  return z
    .union([z.string(), whole(0, 65_535), z.literal(false)], { error: addressHelp })
    .default(`127.0.0.1:${port}`);
}

const listen = section(
  {
    proxy: address(8080).meta({ description: "Where clients come in. Needs upstreams." }),
    admin: address(8088).meta({
      description: "Admin API, metrics, health. Other than loopback it needs admin.token.",
    }),
    decide: address(8090).meta({
      description: "Decision service and forward-auth. Other than loopback it needs decide.token.",
    }),
  },
  "Where the server listens: host:port, a port alone (then on loopback), or false.",
);

const health = map({
  path: z.string().default("/").meta({ description: "What is asked for with GET; 200 to 399 is healthy." }),
  every: duration().default("5s").meta({ description: "How often." }),
  timeout: duration().default("2s").meta({ description: "An answer that takes longer is a failure." }),
  failures: whole(1, 1000).default(3).meta({ description: "Failures in a row that take an origin out." }),
  successes: whole(1, 1000).default(2).meta({ description: "Successes in a row that bring it back." }),
}).meta({ description: "Asks each origin how it is. Without it all count as healthy." });

const upstream = map({
  name: z.string().optional().meta({
    description: "For logs and metrics. Default: its host and path, or default where it has neither.",
  }),
  url: z.string({ error: urlHelp }).optional().meta({ description: "The app's origin, without a path." }),
  urls: texts(urlHelp)
    .optional()
    .meta({ description: "Several origins of one app; requests are spread over the healthy ones." }),
  host: z
    .string({ error: hostsHelp })
    .optional()
    .meta({ description: "Only requests for this host; *.example.com for all below." }),
  hosts: texts(hostsHelp).optional().meta({ description: "Only requests for these hosts." }),
  path: z.string().default("/").meta({
    description:
      "Only paths under this one, by whole segments, understood as rules understand them: a path that may be of one upstream or of another is refused. The longest wins.",
  }),
  health: health.optional(),
});

const storeKind = { description: "memory, redis or memcached." };

const store = z
  .union(
    [
      z.string().meta({ examples: ["memory", "redis", "memcached", "redis://127.0.0.1:6379"] }),
      z.discriminatedUnion("kind", [
        map({
          kind: z.literal("memory").meta(storeKind),
          maxKeys: whole(1, 1_000_000_000)
            .optional()
            .meta({ description: "Clients remembered at once; the library's default is 1,000,000." }),
        }),
        map({
          kind: z.literal("redis").meta(storeKind),
          url: z
            .string({ error: secretHelp })
            .default("redis://127.0.0.1:6379")
            .meta({ description: "redis:// or rediss:// (TLS)." }),
          prefix: z.string().default("tg").meta({ description: "Begins every key." }),
          cluster: z
            .boolean()
            .default(false)
            .meta({ description: "True for a Redis Cluster; url is then any of its nodes." }),
        }),
        map({
          kind: z.literal("memcached").meta(storeKind),
          servers: texts("Write a list of host:port.")
            .default(["127.0.0.1:11211"])
            .meta({ description: "host:port of each." }),
          prefix: z.string().default("tg").meta({ description: "Begins every key." }),
        }),
      ]),
    ],
    {
      error:
        "Write memory, redis or memcached, or a map such as { kind: redis, url: redis://127.0.0.1:6379 }.",
    },
  )
  .default("memory")
  .meta({ description: "Where counts live: memory, redis, memcached, a Redis URL, or a map with kind." });

const every = duration().default("1m").meta({ description: "How often it is read: 1s or more." });

const sourceKind = { description: "sql or http." };
const sourceUrl = {
  description:
    "sql: postgres://… or file:customers.db (beside this file). http: GET answers a page, PUT <url>/<id> takes one.",
};

const source = z.discriminatedUnion("kind", [
  map({
    kind: z.literal("sql").meta(sourceKind),
    url: z.string({ error: secretHelp }).meta(sourceUrl),
    select: z.string().meta({ description: "Answers rows of id, tier and, if wished, limits (JSON)." }),
    update: z.string().meta({ description: "Takes id, tier, limits as $1, $2, $3." }),
    every,
  }),
  map({
    kind: z.literal("http").meta(sourceKind),
    url: z.string({ error: secretHelp }).meta(sourceUrl),
    token: z.string({ error: secretHelp }).optional().meta({ description: "Sent as Authorization: Bearer." }),
    every,
  }),
]);

/** Every section of a configuration, by its name. Defaults stand here and nowhere else. */
export const sections = {
  listen,
  upstreams: z
    .array(upstream, { error: "Write a list: - url: http://127.0.0.1:3000." })
    .default([])
    .meta({ description: "The apps behind the proxy." }),
  trustedProxies: texts(proxiesHelp).default([]).meta({
    description:
      "Whose word on the client's address is believed: addresses, blocks, loopback, linklocal, uniquelocal, private.",
  }),
  clientIpHeader: z
    .string({ error: headerHelp })
    .default("x-forwarded-for")
    .meta({ description: "The one header trusted proxies name the client in." }),
  identify: section(
    {
      user: z
        .string({ error: headerHelp })
        .optional()
        .meta({ description: "Header in which trusted proxies name the user; taken off others' requests." }),
      customer: z.string({ error: headerHelp }).optional().meta({
        description: "Header in which trusted proxies name the customer; taken off others' requests.",
      }),
      account: z
        .union([z.string(), map({ field: fieldName })], { error: accountHelp })
        .optional()
        .meta({
          description:
            "The name a login claims, whoever sends it: a header, or { field: email } for a field of the body.",
        }),
    },
    "How the proxy knows who sends a request, for rules by user, customer and account.",
  ),
  identity: section(
    {
      ipv6Prefix: whole(1, 128)
        .optional()
        .meta({ description: "IPv6 clients are counted by this prefix; the library's default is 64." }),
      networkPrefixes: z
        .tuple([whole(1, 32), whole(1, 128)], {
          error: "Write two prefix lengths, for IPv4 and IPv6: [24, 48].",
        })
        .optional()
        .meta({ description: "What network means, for IPv4 and IPv6; the library's default is [24, 48]." }),
      fingerprint: z.enum(["sha256", "seed"]).optional().meta({
        description: "How standard and broad are written: sha256 or seed; the library's default is sha256.",
      }),
    },
    "How addresses and fingerprints become keys.",
  ),
  store,
  data: z
    .string()
    .default("./tidegate-data")
    .meta({ description: "Folder of lists, customers, policy versions and audit, seen from this file." }),
  policy: policyShape
    .default({ rules: [] })
    .meta({ description: "Rules, tiers and lists. Reloaded when it changes." }),
  failure: section(
    {
      deadline: duration()
        .default("100ms")
        .meta({ description: "How long a decision may wait for the store." }),
      breaker: section(
        {
          failures: whole(1, 1_000_000)
            .default(5)
            .meta({ description: "After so many failures in a row the store is left alone." }),
          pause: duration().default("1s").meta({ description: "For so long." }),
        },
        "When a failing store is left alone.",
      ),
      onStoreFailure: z.enum(["local", "allow", "deny"]).default("local").meta({
        description: "Meanwhile: local counts in this process, allow lets everyone in, deny no one.",
      }),
    },
    "What happens when the store is out of reach.",
  ),
  proxy: section(
    {
      maxHeaderBytes: whole(1024, 1_048_576)
        .default(16_384)
        .meta({ description: "A request's line and headers; more is 431." }),
      maxBodyBytes: whole(0, Number.MAX_SAFE_INTEGER).optional().meta({
        description: "A request's body; more is 413. Without it any size, for bodies are streamed.",
      }),
      headersTimeout: duration()
        .default("10s")
        .meta({ description: "A client must have sent its headers within this." }),
      requestTimeout: duration()
        .default("5m")
        .meta({ description: "And its whole request, body included, within this." }),
      keepAlive: duration()
        .default("65s")
        .meta({ description: "How long an idle client connection is kept." }),
      connectTimeout: duration()
        .default("3s")
        .meta({ description: "Until a connection to an upstream stands." }),
      responseTimeout: duration()
        .default("60s")
        .meta({ description: "Until an upstream's headers are there; later is 504." }),
      idleTimeout: duration().default("60s").meta({
        description:
          "How long either side may pause: between two pieces of an upstream's answer, of a client's upload (408), and while a client takes nothing of its answer.",
      }),
      connections: whole(1, 65_535).default(128).meta({
        description:
          "Requests under way at a time to each origin, each on a connection that is kept; of one client a quarter of them, at least 4. More wait their turn.",
      }),
    },
    "Sizes and times of the proxy.",
  ),
  decide: section(
    {
      peers: texts(proxiesHelp).default([]).meta({
        description: "Callers whose word on a client is believed without a token; written as trustedProxies.",
      }),
      token: z
        .string({ error: secretHelp })
        .optional()
        .meta({ description: "Callers with it are believed, wherever they are." }),
      canFinish: z.boolean().default(false).meta({
        description:
          "Callers promise to send /v1/finish, so rules that look at the answer may be asked about.",
      }),
      hosts: texts(hostsHelp)
        .default([])
        .meta({ description: "Names, beside addresses and localhost, this listener may be called by." }),
    },
    "The decision service.",
  ),
  admin: section(
    {
      token: z
        .string({ error: secretHelp })
        .optional()
        .meta({ description: "Needed of every caller once it is set." }),
      hosts: texts(hostsHelp)
        .default([])
        .meta({ description: "Names, beside addresses and localhost, this listener may be called by." }),
    },
    "The admin API.",
  ),
  responses: section(
    {
      headers: z
        .union([z.string(), z.array(z.string()), z.literal(false)], {
          error: "Write draft-11, draft-7, draft-6 or legacy, a list of them, or false.",
        })
        .default("draft-11")
        .meta({ description: "RateLimit headers: draft-11, draft-7, draft-6, legacy, a list, or false." }),
      status: whole(400, 599).optional().meta({
        description:
          "Of a refusal. Default 429, and 503 for those kept out uncounted while the store is out of reach.",
      }),
    },
    "What the proxy answers.",
  ),
  customers: section(
    { source: source.optional().meta({ description: "The primary database customers come from." }) },
    "Where customers come from.",
  ),
  control: controlShape,
  edges: edgesShape,
  decisionLog: decisionLogShape,
  rehearse: section(
    {
      keep: whole(0, 1_000_000).default(20_000).meta({
        description:
          "Newest requests kept in memory to rehearse a policy with, of all workers together; 0 for none.",
      }),
    },
    "Rehearsing a policy on recent traffic.",
  ),
  metrics: section(
    { offenders: whole(0, 1000).default(20).meta({ description: "Busiest clients named in /metrics." }) },
    "Prometheus.",
  ),
  logs: section(
    {
      level: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info").meta({
        description: "The least that is logged: trace, debug, info, warn, error, or silent for nothing.",
      }),
    },
    "Structured logs.",
  ),
  workers: whole(1, 128).default(1).meta({ description: "Processes that serve. More than one needs Redis." }),
  drain: duration().default("10s").meta({
    description:
      "How long a shutdown waits for requests under way. Open WebSockets are not waited for: they are ended once no request is left. What was cut is in the log.",
  }),
};

export const fileShape = map(sections);

export type SectionName = keyof typeof sections;
export type Section<Name extends SectionName> = z.output<(typeof sections)[Name]>;
export type UpstreamShape = z.output<typeof upstream>;
export type SourceShape = z.output<typeof source>;
