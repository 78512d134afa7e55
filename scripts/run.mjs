// Child processes for the scripts: streamed to the terminal, or collected.
import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

const path = `${join(root, "node_modules", ".bin")}${delimiter}${process.env.PATH}`;

function start(command, args, output, env) {
  return spawn(command, args, {
    cwd: root,
    stdio: ["ignore", output, output],
    env: { ...process.env, PATH: path, ...env },
  });
}

/** Runs a command in the project's root, its output on this terminal, `env` on top of ours. Resolves to its exit code. */
export function run(command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = start(command, args, "inherit", env);
    const stopForwarding = forwardSignals(child);
    child.once("error", reject);
    child.once("close", (code) => {
      stopForwarding();
      resolve(code ?? 1);
    });
  });
}

/** Runs a command quietly. Resolves to its exit code and everything it printed. */
export function collect(command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = start(command, args, "pipe", env);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk) => {
        output += chunk;
      });
    }
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, output }));
  });
}

/** This process outlives its child, so that the child can clean up and its exit code is heard. */
function forwardSignals(child) {
  // A terminal sends Ctrl-C to both; sent again, it would mean "at once".
  const onInterrupt = () => process.stdin.isTTY || child.kill("SIGINT");
  const onTerminate = () => child.kill("SIGTERM");
  process.on("SIGINT", onInterrupt).on("SIGTERM", onTerminate);
  return () => process.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate);
}
