import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeAccessLog } from "../lib/access-log.mjs";
import { watched } from "../lib/watched.mjs";

export const id = "replay";
export const title = "replay of a combined log, 5 rules, one core";
export const http = "replay";
export const rounds = 3;
export const contestants = ["tidegate.one", "goaccess.one"];
export const metrics = ["rate", "megabytes"];
// About 1 GB and 4 GB.
export const params = [
  { name: "1 GB", lines: 4_200_000 },
  { name: "4 GB", lines: 16_800_000 },
];

/** Lines a second from the command's start to its end, its own start included; the most memory it had. */
export async function setup({ make, quick }) {
  // All contestants of a run share the logs.
  const folder = join(tmpdir(), `tidegate-bench-replay-${process.ppid}`);
  mkdirSync(folder, { recursive: true });
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const commandOf = await make({ folder });
  return {
    async sample({ name, lines }) {
      const count = quick ? lines / 20 : lines;
      const log = join(folder, `${name.replace(" ", "")}.log`);
      if (!existsSync(log)) {
        writeAccessLog(`${log}.part`, count);
        renameSync(`${log}.part`, log);
      }
      const { seconds, megabytes } = await watched(...commandOf(log));
      return { rate: count / seconds, megabytes };
    },
  };
}

export function rows({ row }) {
  const ours = "tidegate.one";
  const peers = ["goaccess.one"];
  return [
    row({ what: "lines", metric: "rate", ours, peers: [], at: "1 GB", bar: { from: 250_000 } }),
    row({ what: "lines beside GoAccess", metric: "rate", ours, peers, at: "1 GB", bar: { over: 1 } }),
    row({ what: "peak RSS", metric: "megabytes", unit: "MB", ours, peers, at: "1 GB", bar: { below: 500 } }),
    row({
      what: "peak RSS, four times the log",
      metric: "megabytes",
      unit: "MB",
      ours,
      peers: [ours],
      at: "4 GB",
      peersAt: "1 GB",
      bar: { atMost: 1.1 },
    }),
  ];
}
