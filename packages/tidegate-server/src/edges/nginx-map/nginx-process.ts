import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { EdgeError } from "../../edge.js";

export interface NginxProcess {
  /** Throws unless nginx runs, and is what the pid file names. */
  find(): Promise<number>;
  /** It reads its configuration anew, and keeps the old one if that is no good. */
  reload(): Promise<NginxReload>;
}

export interface NginxReload {
  /** Whether nginx took the files, as soon as that shows: it starts new workers then. Where nobody can see them it is believed. */
  isTaken(withinMs: number): Promise<boolean>;
}

const lookMs = 10;

export function nginxProcess(edge: string, pidFile: string): NginxProcess {
  async function find(): Promise<number> {
    const text = await readFile(pidFile, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "EACCES") throw denied(`${pidFile} can not be read.`);
      throw gone(`there is no ${pidFile}.`);
    });
    const pid = /^\s*(\d{1,10})\s*$/.exec(text)?.[1];
    if (pid === undefined || Number(pid) < 1) throw gone(`${pidFile} names no process.`);
    if (!(await isNginx(pid)))
      throw gone(`process ${pid}, which ${pidFile} names, is not nginx: it was left alone.`);
    return Number(pid);
  }

  function gone(what: string): EdgeError {
    return new EdgeError("TG_EDGE_UNREACHED", edge, what, "Start nginx, or set pidFile to its `pid`.", true);
  }

  function denied(what: string): EdgeError {
    const help = "Run tidegate as the user of nginx's master process, or give it CAP_KILL.";
    return new EdgeError("TG_EDGE_DENIED", edge, what, help, false);
  }

  return {
    find,
    async reload() {
      const pid = await find();
      // While old workers end, one list may lack others.
      const before = new Set([...(await childrenOf(pid)), ...(await childrenOf(pid))]);
      try {
        process.kill(pid, "SIGHUP");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EPERM")
          throw denied(`nginx (process ${pid}) may not be told to reload.`);
        throw gone(`nginx (process ${pid}) has ended.`);
      }
      return {
        async isTaken(withinMs) {
          if (before.size === 0) return true;
          const until = performance.now() + withinMs;
          for (;;) {
            // Another process is another start: it has read the files.
            if ((await find()) !== pid) return true;
            if ((await childrenOf(pid)).some((child) => !before.has(child))) return true;
            if (performance.now() >= until) return false;
            await sleep(lookMs);
          }
        },
      };
    },
  };
}

/** A pid file outlives a crash, and its number may be another program's by now. Without `/proc` the file is believed. */
async function isNginx(pid: string): Promise<boolean> {
  const read = (path: string) => readFile(path, "latin1").catch(() => undefined);
  if ((await read("/proc/self/comm")) === undefined) return true;
  const [name, line] = await Promise.all([read(`/proc/${pid}/comm`), read(`/proc/${pid}/cmdline`)]);
  return name?.startsWith("nginx") === true || line?.startsWith("nginx: master") === true;
}

/** None where there is no `/proc`, or nginx serves without workers. */
async function childrenOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1").catch(() => "");
  return text.split(" ").filter((child) => child !== "");
}
