import { readdirSync, readFileSync } from "node:fs";

/** Returns when a process that was sent SIGSTOP stands still with all its threads: until then it may answer once more. */
export function untilStopped(pid: number): void {
  for (const deadline = Date.now() + 5000; !isStopped(pid) && Date.now() < deadline; )
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

function isStopped(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1");
      return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
    });
  } catch {
    // It has ended, or this system has no such files.
    return true;
  }
}
