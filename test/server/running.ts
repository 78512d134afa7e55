import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const inServer = (path: string) =>
  fileURLToPath(new URL(`../../packages/tidegate-server/${path}`, import.meta.url));
export const commands = { installed: inServer("bin/tidegate.mjs"), npmStart: inServer("dist/cli/main.js") };

/** `tidegate start` as a process of its own, as people run it. */
export interface Running {
  readonly proxy: string;
  readonly decide: string;
  readonly admin: string;
  readonly pid: number;
  /** What it wrote so far, to both outputs. */
  output(): string;
  /** Its log lines so far. */
  lines(): Record<string, unknown>[];
  signal(signal: NodeJS.Signals): void;
  /** To it and its workers at once, as Ctrl-C does. Only of one started with a group of its own. */
  signalGroup(signal: NodeJS.Signals): void;
  /** Its exit code, once it has ended. */
  ended(): Promise<number | null>;
  stop(): Promise<number | null>;
}

/** A folder that is gone after the test. */
export function temporaryFolder(after: After = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "tidegate-server-"));
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** Writes `tidegate.yaml` into a folder and answers its path. */
export function configFile(folder: string, text: string): string {
  const file = join(folder, "tidegate.yaml");
  writeFileSync(file, text);
  return file;
}

const anyPorts = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--decide", "127.0.0.1:0"];

export interface StartOptions {
  readonly args?: readonly string[];
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The file that is run. Default what npm links as `tidegate`. */
  readonly command?: string;
  /** Takes what has to be done in the end. Default: after the test. */
  readonly after?: After;
  /** Its processes are a group, as of a shell's command. */
  readonly hasOwnGroup?: boolean;
}

export type After = (close: () => void | Promise<void>) => void;

/** Runs `tidegate` with these arguments to its end. */
export async function runTidegate(
  args: readonly string[],
  options: Omit<StartOptions, "args">,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = launch(args, options);
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (text) => {
    stdout += text;
  });
  child.stderr?.on("data", (text) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}

/** Starts it on free ports and waits until it says that it is up. */
export async function startTidegate({ args = [], ...options }: StartOptions): Promise<Running> {
  const child = launch(["start", ...anyPorts, ...args], options);
  let output = "";
  let isOver = false;
  const over = once(child, "close").then(([code]) => {
    isOver = true;
    return code as number | null;
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (text) => {
      output += text;
    });
  }
  const lines = (): Record<string, unknown>[] =>
    output.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  const up = await eventually(() => {
    if (isOver) throw new Error(`tidegate ended before it was up:\n${output}`);
    return lines().find(({ msg }) => msg === "Tidegate is up") as Record<string, string> | undefined;
  });
  return {
    proxy: up.proxy as string,
    decide: up.decide as string,
    admin: up.admin as string,
    pid: child.pid as number,
    output: () => output,
    lines,
    signal: (signal) => void child.kill(signal),
    signalGroup: (signal) => void process.kill(-(child.pid as number), signal),
    ended: () => over,
    async stop() {
      child.kill("SIGTERM");
      return over;
    },
  };
}

function launch(args: readonly string[], options: Omit<StartOptions, "args">): ChildProcess {
  const { folder, env = {}, command = commands.installed, after = onTestFinished } = options;
  const { hasOwnGroup = false } = options;
  const child = spawn(process.execPath, [command, ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: hasOwnGroup,
  });
  after(() => void child.kill("SIGKILL"));
  return child;
}

/** Asks again until there is an answer, for at most half a minute. */
export async function eventually<T>(ask: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const until = Date.now() + 30_000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > until) throw new Error(`nothing came of ${ask} in half a minute`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The statuses of so many requests, one after another. */
export async function statuses(count: number, url: string, init?: RequestInit): Promise<number[]> {
  const answers: number[] = [];
  for (let i = 0; i < count; i++) {
    const response = await fetch(url, init);
    await response.arrayBuffer();
    answers.push(response.status);
  }
  return answers;
}

export function tally(answers: readonly number[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const status of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
