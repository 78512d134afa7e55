import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Refused, WriterOrders, Written } from "./data-writer.js";

/** Another process that writes to embedded data until it is killed. */
export interface Writer {
  readonly ready: Promise<unknown>;
  /** Resolves with `writes` once the first was answered, or with the code of what it was refused for. */
  begin(orders: WriterOrders): Promise<string>;
  /** SIGKILL. Answers every write it had been answered by then. */
  kill(): Promise<Written[]>;
}

const root = fileURLToPath(new URL("../../", import.meta.url));
const script = fileURLToPath(new URL("./data-writer.ts", import.meta.url));

export function startWriter(): Writer {
  const child: ChildProcess = fork(script, {
    cwd: root,
    execArgv: ["--import", "tsx"],
    env: { ...process.env, TSX_TSCONFIG_PATH: "tsconfig.test.json" },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const ready = once(child, "message");
  const ended = once(child, "close");
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const first = once(reader, "line");
  reader.on("line", (line) => lines.push(line));
  for (const promise of [ready, first]) promise.catch(() => {});
  return {
    ready,
    async begin(orders) {
      await ready;
      child.send(orders);
      const [line] = await first;
      const said: Written | Refused = JSON.parse(line);
      return "refused" in said ? said.refused : "writes";
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
      return lines.filter((line) => line.endsWith("}")).map((line) => JSON.parse(line));
    },
  };
}
