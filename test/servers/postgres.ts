import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type ChildServer, startChildServer } from "./child-server.js";
import { freePort } from "./free-port.js";

export interface PostgresOptions {
  port?: number;
  /** Further settings as on the command line: `["-c", "statement_timeout=1s"]`. */
  args?: readonly string[];
}

/** A PostgreSQL whose tables are there again after `restart()`. Anybody may come in as `postgres`: `url` says all that is needed. */
export async function startPostgres(options: PostgresOptions = {}): Promise<ChildServer> {
  const port = options.port ?? (await freePort());
  const server = await startChildServer({
    command: asWhom[0],
    port,
    protocol: "postgres",
    args(dir) {
      const data = join(dir, "data");
      if (!existsSync(data)) initialise(dir, data);
      const args = ["-D", data, "-p", String(port), ...LEAN, ...(options.args ?? [])];
      return [...asWhom.slice(1), binary("postgres"), ...args];
    },
    ready: { send: hello(), expect: "R" },
  });
  return {
    ...server,
    get pid() {
      return server.pid;
    },
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
  };
}

const LEAN = [
  ...["-c", "listen_addresses=127.0.0.1"],
  ...["-c", "unix_socket_directories="],
  ...["-c", "fsync=off"],
  ...["-c", "shared_buffers=16MB"],
  ...["-c", "max_connections=20"],
  ...["-c", "autovacuum=off"],
];

const isRoot = process.getuid?.() === 0;

/** It refuses to run as root. Another user's process forgets whose death it dies with, so it is told again. */
const asWhom: [string, ...string[]] = isRoot
  ? [
      "setpriv",
      ...["--reuid", "postgres", "--regid", "postgres", "--clear-groups"],
      ...["--pdeathsig", "KILL", "--"],
    ]
  : ["env"];

function initialise(dir: string, data: string): void {
  mkdirSync(data, { mode: 0o700 });
  if (isRoot) {
    chmodSync(dir, 0o711);
    chownSync(data, idOf("-u"), idOf("-g"));
  }
  const [command, ...args] = [
    ...asWhom,
    binary("initdb"),
    ...["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8"],
  ] as [string, ...string[]];
  execFileSync(command, args, { stdio: "pipe", cwd: "/" });
}

function idOf(which: "-u" | "-g"): number {
  return Number(execFileSync("id", [which, "postgres"], { encoding: "utf8" }));
}

/** Debian keeps every version in its own folder, and none on the path. */
function binary(name: string): string {
  const home = "/usr/lib/postgresql";
  const versions = existsSync(home) ? readdirSync(home).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(home, version, "bin", name)).find((path) => existsSync(path));
  return found ?? name;
}

/** A client's first message: protocol 3.0, user and database. */
function hello(): string {
  const body = "\0\x03\0\0user\0postgres\0database\0postgres\0\0";
  return `\0\0\0${String.fromCharCode(body.length + 4)}${body}`;
}
