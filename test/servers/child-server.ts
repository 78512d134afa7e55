import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { untilStopped } from "./stopped.js";

/** A server that runs as a child of this process, on its own port and in its own directory. */
export interface ChildServer {
  readonly port: number;
  readonly url: string;
  /** Of the process that runs now; another one after `restart()`. */
  readonly pid: number;
  /** Ends it and removes its directory. For good. */
  stop(): Promise<void>;
  /** SIGSTOP: connections stay open, nothing is answered. */
  freeze(): void;
  thaw(): void;
  /** SIGKILL: connections break, new ones are refused, until `restart()`. */
  kill(): Promise<void>;
  /** A new process on the same port and directory; ends the old one first if it still runs. */
  restart(): Promise<void>;
}

export interface ChildServerOptions {
  command: string;
  args(dir: string): string[];
  port: number;
  protocol: string;
  /** One request, and what the reply starts with once the server is ready. */
  ready: { send: string; expect: string };
  /** SIGTERM for one with children of its own, which it then ends. Default SIGKILL. */
  endsBy?: "SIGKILL" | "SIGTERM";
}

const READY_WITHIN_MS = 30_000;

/** Those that run, and what ends them. */
const running = new Map<ChildProcess, NodeJS.Signals>();
process.on("exit", () => {
  for (const [child, signal] of running) child.kill(signal);
});

// An exit handler does not run when this process itself is killed; the kernel's parent-death signal does.
const SETPRIV = "/usr/bin/setpriv";
const diesWithParent = process.platform === "linux" && existsSync(SETPRIV);

export async function startChildServer(options: ChildServerOptions): Promise<ChildServer> {
  const { command, port, protocol, endsBy = "SIGKILL" } = options;
  const dir = await mkdtemp(join(tmpdir(), `tidegate-${command}-`));
  let child: ChildProcess;

  async function start(): Promise<void> {
    const args = options.args(dir);
    child = diesWithParent
      ? spawn(SETPRIV, ["--pdeathsig", endsBy.slice(3), "--", command, ...args], {
          stdio: ["ignore", "pipe", "pipe"],
        })
      : spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    await untilReady(child, options);
  }

  // SIGKILL wherever it will do: there is nothing to save, a frozen server hears nothing else, and memcached takes its time.
  async function end(): Promise<void> {
    if (!running.has(child)) return;
    const exited = once(child, "exit");
    child.kill(endsBy);
    if (endsBy !== "SIGKILL") child.kill("SIGCONT");
    await exited;
  }

  try {
    await start();
  } catch (error) {
    await rm(dir, { recursive: true, force: true });
    throw error;
  }

  return {
    port,
    url: `${protocol}://127.0.0.1:${port}`,
    get pid() {
      return child.pid as number;
    },
    async stop() {
      await end();
      await rm(dir, { recursive: true, force: true, maxRetries: 3 });
    },
    freeze() {
      child.kill("SIGSTOP");
      untilStopped(child.pid as number);
    },
    thaw: () => void child.kill("SIGCONT"),
    kill: end,
    async restart() {
      await end();
      await start();
    },
  };
}

/** Resolves when the server gives the expected answer; throws with its own output if it exits or stays silent. */
async function untilReady(child: ChildProcess, options: ChildServerOptions): Promise<void> {
  const { command, port, ready, endsBy = "SIGKILL" } = options;
  let output = "";
  let ended: string | undefined;
  running.set(child, endsBy);
  child.stdout?.on("data", (chunk) => {
    output = (output + chunk).slice(-4_000);
  });
  child.stderr?.on("data", (chunk) => {
    output = (output + chunk).slice(-4_000);
  });
  child.once("exit", (code, signal) => {
    running.delete(child);
    ended = `exited with ${signal ?? `code ${code}`}`;
  });
  child.once("error", (error) => {
    running.delete(child);
    ended = `could not be started (${error.message})`;
  });

  const deadline = Date.now() + READY_WITHIN_MS;
  while (!ended) {
    const answer = await ask(port, ready.send, 500).catch(() => "");
    if (answer.startsWith(ready.expect) && !ended) return;
    if (Date.now() > deadline) {
      child.kill(endsBy);
      ended = `was not ready within ${READY_WITHIN_MS} ms`;
    }
    await sleep(10);
  }
  throw new Error(
    `${command} on port ${port} ${ended}; \`npm test\` installs missing servers. It said:\n${output}`,
  );
}

/** Sends one request on a fresh connection and returns the first bytes that come back. */
export function ask(port: number, request: string, timeoutMs = 2_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setTimeout(timeoutMs, () =>
      socket.destroy(new Error(`no answer from port ${port} in ${timeoutMs} ms`)),
    );
    socket.once("connect", () => socket.write(request));
    socket.once("data", (data) => {
      socket.destroy();
      resolve(data.toString());
    });
    socket.once("error", reject);
    socket.once("close", () => reject(new Error(`port ${port} closed the connection without an answer`)));
  });
}
