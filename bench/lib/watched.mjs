// A command run to its end on the first core: how long it took, and the most memory it had.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { pinMeasured } from "./pinning.mjs";

const LOOK_EVERY_MS = 50;

export function watched(command, args) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    let peakBytes = 0;
    const look = () => {
      peakBytes = Math.max(peakBytes, peakOf(child.pid));
    };
    child.stderr.on("data", (text) => {
      said = `${said}${text}`.slice(-2000);
    });
    child.once("error", reject);
    if (child.pid === undefined) return;
    pinMeasured(child.pid);
    const timer = setInterval(look, LOOK_EVERY_MS);
    child.once("close", (code) => {
      clearInterval(timer);
      const seconds = (performance.now() - started) / 1000;
      if (code === 0) resolve({ seconds, megabytes: peakBytes / 1e6 });
      else reject(new Error(`${command} ended (${code}): ${said}`));
    });
  });
}

/** Linux keeps it; elsewhere it is not known. */
function peakOf(pid) {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
