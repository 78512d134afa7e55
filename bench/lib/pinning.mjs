// On Linux with taskset: what is measured has the first core to itself, what asks it and what it asks have the others.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** The cores this process may use, e.g. [0, 1, 4]; empty where nobody can be pinned. */
function allowed() {
  if (process.platform !== "linux" || spawnSync("taskset", ["--version"]).status !== 0) return [];
  const list = /^Cpus_allowed_list:\s*(.+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
  return list.split(",").flatMap((range) => {
    const [first, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

const cores = allowed();

function pin(pid, list) {
  if (cores.length > 1)
    spawnSync("taskset", ["--all-tasks", "--cpu-list", "--pid", list.join(","), `${pid}`]);
}

export const pinMeasured = (pid) => pin(pid, cores.slice(0, 1));
export const pinOthers = (pid) => pin(pid, cores.slice(1));
