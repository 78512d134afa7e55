import { z } from "zod";
import { duration, durations, map, rate, section, texts, whole } from "./shapes.js";

const spareHelp =
  "Write a list of addresses, blocks or private, e.g. [private, 203.0.113.0/24]; [] spares nobody.";

export const trackShape = map({
  methods: texts("Write a list such as [GET, POST].")
    .default([])
    .meta({ description: "Only these methods count; empty: all." }),
  standard: rate().default("60 per minute").meta({ description: "What one client may do on one path." }),
  broad: rate()
    .default("120 per minute")
    .meta({ description: "What a known tool may do on all paths together." }),
  address: rate().optional().meta({
    description:
      "What one address (IPv6: /64) may do on all paths, whatever it calls itself. Off unless given.",
  }),
  halfLife: duration()
    .default("30s")
    .meta({ description: "How fast the past is forgotten: a request weighs half after so long." }),
  holdFor: durations().default(["1m", "5m", "1h"]).meta({
    description: "How long an offender is held at least: the first time, the second, and so on.",
  }),
});

const guard = section(
  {
    newPerMinute: whole(1, 1_000_000_000)
      .default(5000)
      .meta({ description: "New entries at one edge within a minute." }),
    share: z.number({ error: "Write a number from 0 to 1, e.g. 0.5." }).min(0).max(1).default(0.5).meta({
      description:
        "Part of the clients seen lately that is held; asked when at least 100 are, of 20 networks.",
    }),
  },
  "What is too much to be right: beyond it new entries are withheld and an alarm is raised; what stands at the edge stays.",
);

export const controlShape = section(
  {
    track: z
      .union([z.boolean(), trackShape], { error: "Write true, false or a map." })
      .optional()
      .meta({ description: "Tracks who floods. On when there are edges, unless false." }),
    every: duration().default("5s").meta({
      description: "How often every edge is read and set right, whatever was heard meanwhile.",
    }),
    holdOff: duration()
      .default("10m")
      .meta({ description: "How long a client cleared by hand goes to no edge." }),
    spare: texts(spareHelp).default(["private"]).meta({
      description:
        "Who never goes to an edge, beside the safelist and trustedProxies: addresses, blocks, or private for private, loopback and link-local networks; [] spares nobody.",
    }),
    guard,
  },
  "Who is pushed to the edges, and how.",
);

export const decisionLogShape = z
  .union(
    [
      z.literal(false),
      map({
        file: z.string({ error: "Write the path of a file, e.g. ./decisions.ndjson." }).meta({
          description: "One JSON object per line, seen from this file's folder. Workers add their number.",
        }),
        which: z
          .enum(["refused", "all"])
          .default("refused")
          .meta({ description: "refused: what was refused or would have been; all: every decision." }),
        maxBytes: whole(65_536, 1_099_511_627_776)
          .default(67_108_864)
          .meta({ description: "A file this large is renamed to <file>.1, and a new one begun." }),
        files: whole(1, 1000)
          .default(5)
          .meta({ description: "How many full files are kept beside the one being written." }),
      }),
    ],
    { error: "Write false, or a map such as { file: ./decisions.ndjson }." },
  )
  .default(false)
  .meta({ description: "Decisions as newline JSON, for analysis: false, or a map with file." });
