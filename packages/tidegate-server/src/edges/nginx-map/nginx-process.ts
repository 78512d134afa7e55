import { readFile } from "node:fs/promises";
import { EdgeError } from "../../edge.js";

export interface NginxProcess {
  /** Throws unless nginx runs, and is what the pid file names. */
  find(): Promise<number>;
  /** It reads its configuration anew, and keeps the old one if that is no good. */
  reload(): Promise<void>;
}

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
      try {
        process.kill(pid, "SIGHUP");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EPERM")
          throw denied(`nginx (process ${pid}) may not be told to reload.`);
        throw gone(`nginx (process ${pid}) has ended.`);
      }
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
