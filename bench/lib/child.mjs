// A process of the bench's own that is asked one thing at a time, and answers `{ result }`.
import { fork } from "node:child_process";
import { pinOthers } from "./pinning.mjs";

export function startChild(script, name) {
  const child = fork(new URL(script, import.meta.url), {
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  pinOthers(child.pid);
  let waiting;
  child.on("message", ({ result }) => waiting.resolve(result));
  child.on("exit", (code) => waiting?.reject(new Error(`${name} ended (${code})`)));
  return (message) =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      child.send(message);
    });
}

/** In the child: `acts` by name. */
export function answerParent(acts) {
  process.on("message", async (message) => process.send({ result: await acts[message.do](message) }));
  process.on("disconnect", () => process.exit(0));
}
