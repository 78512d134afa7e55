import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeAccessLog } from "./access-log.mjs";
import { watched } from "./watched.mjs";

/** Lines a second from the command's start to its end, its own start included; the most memory it had. */
export async function setupReplay({ make, contestant, quick }) {
  // All contestants of a run share the logs; each has a folder of its own for the rest.
  const shared = join(tmpdir(), `tidegate-bench-replay-${process.ppid}`);
  const folder = join(shared, contestant);
  mkdirSync(folder, { recursive: true });
  process.once("exit", () => rmSync(shared, { recursive: true, force: true }));
  const commandOf = await make({ folder });
  return {
    async sample({ lines }) {
      const count = quick ? lines / 10 : lines;
      const log = join(shared, `${count}.log`);
      if (!existsSync(log)) {
        writeAccessLog(`${log}.part`, count);
        renameSync(`${log}.part`, log);
      }
      const { seconds, megabytes } = await watched(...commandOf(log));
      return { rate: count / seconds, megabytes };
    },
  };
}
