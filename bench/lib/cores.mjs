// Who runs where. Left to the scheduler, two busy processes meet on one core now and then, which is felt as 10 ms.
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** The server has a core of its own, the load another, Redis a third; with two cores Redis is with the load. */
export async function giveCores({ server, load, command }) {
  const cores = availableParallelism();
  if (process.platform !== "linux" || cores < 2) return;
  pin(server, 0);
  pin(load, 1);
  if (command === undefined) return;
  const info = String(await command("INFO", "server"));
  pin(/^process_id:(\d+)/m.exec(info)[1], cores > 2 ? 2 : 1);
}

/** Only its main thread. Without taskset nothing is done. */
function pin(pid, core) {
  spawnSync("taskset", ["-cp", String(core), String(pid)], { stdio: "ignore" });
}
