import { type RateText, tokenBucket } from "tidegate";
import { canonicalBlock } from "tidegate/http";
import type { ControlSettings, TrackSettings } from "../settings.js";
import { trackShape } from "./control-shape.js";
import type { FileReader } from "./file-reader.js";
import type { Section } from "./settings-shape.js";

/** What `private` says in `spare`: networks whose addresses many share, or that lead to ourselves. */
const privateNetworks: readonly string[] = [
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "::1",
  "fe80::/10",
  "fc00::/7",
];

export function readControl(hasEdges: boolean, reader: FileReader): ControlSettings {
  const { track, every, holdOff, spare, guard } = reader.section("control");
  const isTracking = track === undefined ? hasEdges : track !== false;
  const everyMs = reader.timer(every, ["control", "every"]);
  if (everyMs < 100 || everyMs > 600_000)
    reader.refuse(["control", "every"], {
      is: "is no time to look at edges again.",
      help: "Write 100ms to 10m; 5s is usual.",
    });
  return {
    ...(isTracking && {
      track: readTrack(typeof track === "object" ? track : trackShape.parse({}), reader),
    }),
    everyMs,
    holdOffMs: reader.timer(holdOff, ["control", "holdOff"]),
    spare: readSpare(spare, reader),
    guard,
  };
}

function readSpare(given: readonly string[], reader: FileReader): string[] {
  const spared = given.flatMap((text, i) => {
    if (text === "private") return privateNetworks;
    const block = canonicalBlock(text);
    if (block !== undefined && !block.endsWith("/0")) return [block];
    reader.refuse(["control", "spare", i], {
      is: block === undefined ? "is neither an address nor a block." : "spares everyone.",
      help: "Write 203.0.113.7, 2001:db8::/32, or private for all private, loopback and link-local networks.",
    });
    return [];
  });
  return [...new Set(spared)];
}

type TrackShape = Exclude<NonNullable<Section<"control">["track"]>, boolean>;

function readTrack(given: TrackShape, reader: FileReader): TrackSettings {
  const { methods, standard, broad, address, halfLife, holdFor } = given;
  const path = ["control", "track"];
  for (const [name, rate] of Object.entries({ standard, broad, ...(address && { address }) }))
    reader.problems.guard([...path, name], () => tokenBucket({ rate: rate as RateText, burst: 1 }));
  methods.forEach((method, i) => {
    if (!/^[A-Za-z-]{1,20}$/.test(method))
      reader.refuse([...path, "methods", i], {
        is: "is not a method.",
        help: "Write methods of HTTP: [GET, POST].",
      });
  });
  const steps = Array.isArray(holdFor) ? holdFor : [holdFor];
  if (steps.length < 1 || steps.length > 12)
    reader.refuse([...path, "holdFor"], {
      is: "does not say how long.",
      help: "Write 1 to 12 durations: [1m, 5m, 1h].",
    });
  return {
    methods: methods.map((method) => method.toUpperCase()),
    standard,
    broad,
    ...(address !== undefined && { address }),
    halfLifeMs: readHalfLife(halfLife, reader),
    holdFor: steps.map((step, i) =>
      reader.timer(step, Array.isArray(holdFor) ? [...path, "holdFor", i] : [...path, "holdFor"]),
    ),
  };
}

function readHalfLife(text: string, reader: FileReader): number {
  const path = ["control", "track", "halfLife"];
  const ms = reader.timer(text, path);
  if (ms < 1000 || ms > 86_400_000)
    reader.refuse(path, { is: "is no half-life to track by.", help: "Write 1s to 1d; 30s is usual." });
  return ms;
}
