// What `npm start` and `npm test` need before they can begin, straight after a clone.
// No import from node_modules here: it may not exist yet.
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { root, run } from "./run.mjs";

/** What the tests run against: a binary, or Varnish's module for digests; and the Debian package that brings it. */
const servers = {
  "redis-server": "redis-server",
  memcached: "memcached",
  nginx: "nginx",
  caddy: "caddy",
  pg_ctlcluster: "postgresql",
  haproxy: "haproxy",
  varnishd: "varnish",
  "libvmod_digest.so": "varnish-vmod-digest",
  chromium: "chromium",
};

/** A reason to stop that needs no stack trace. */
export class Stop extends Error {}

/** Installs npm packages unless node_modules was installed from the lock as it stands. */
export async function installPackages() {
  const stamp = join(root, "node_modules", ".installed-from");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lockDigest()) return;
  step("installing npm packages");
  const code = await run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"]);
  if (code !== 0) throw new Stop("`npm install` failed; what it printed above says why.");
  writeFileSync(stamp, lockDigest());
}

function lockDigest() {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

/** Installs whichever servers are not on the PATH, unattended. */
export async function installServers() {
  const missing = Object.keys(servers).filter((file) => !isThere(file));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((file) => servers[file]))];
  const help = `The tests run against real servers, and these are missing: ${missing.join(", ")}.
Install them and try again, for example:
  Debian, Ubuntu:  sudo apt-get install ${packages.join(" ")}
  macOS:           brew install redis memcached nginx caddy postgresql haproxy varnish, libvmod-digest and chromium`;
  if (!onPath("apt-get")) throw new Stop(help);
  if (process.getuid?.() !== 0) throw new Stop(`${help}\n(Run as root, \`npm test\` does this by itself.)`);

  step(`installing ${packages.join(", ")}`);
  if (!(await aptInstall(packages))) {
    step("updating the package lists, then trying once more"); // a fresh machine has none, a stale one outdated ones
    await apt("update");
    await aptInstall(packages);
  }
  if (!missing.every(isThere)) throw new Stop(`apt-get could not do it; it says why above. ${help}`);
}

async function aptInstall(packages) {
  return (await apt("install", "-y", "--no-install-recommends", ...packages)) === 0;
}

function apt(...args) {
  return run("apt-get", ["-q", "-o", "DPkg::Lock::Timeout=120", ...args], {
    DEBIAN_FRONTEND: "noninteractive",
  });
}

function isThere(file) {
  return file.endsWith(".so") ? varnishModules().includes(file) : onPath(file);
}

/** Debian keeps them in a folder of the machine's architecture. */
function varnishModules() {
  const libraries = ["/usr/lib", "/usr/local/lib", "/opt/homebrew/lib"].filter(existsSync);
  const folders = libraries.flatMap((folder) => [
    folder,
    ...readdirSync(folder).map((name) => join(folder, name)),
  ]);
  return folders
    .map((folder) => join(folder, "varnish", "vmods"))
    .filter(existsSync)
    .flatMap((folder) => readdirSync(folder));
}

function onPath(binary) {
  return (process.env.PATH ?? "").split(delimiter).some((dir) => {
    try {
      accessSync(join(dir, binary), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export async function build() {
  step("building");
  if ((await run("tsc", ["-b"])) !== 0)
    throw new Stop("The build failed; the compiler's messages are above.");
  await buildDashboard();
}

/** Into the server's package, unless it was built from the sources as they stand. */
async function buildDashboard() {
  const home = join(root, "packages", "dashboard");
  const target = join(root, "packages", "tidegate-server", "dist", "dashboard");
  const stamp = join(target, ".built-from");
  const digest = sourcesDigest(home);
  const isThere = existsSync(stamp) && existsSync(join(target, "..", "report", "report.html"));
  if (isThere && readFileSync(stamp, "utf8") === digest) return;
  for (const config of ["vite.config.ts", "vite.report.config.ts"])
    if ((await run("vite", ["build", "--logLevel", "warn", "--config", join(home, config), home])) !== 0)
      throw new Stop("The dashboard's build failed; its messages are above.");
  writeFileSync(stamp, digest);
}

function sourcesDigest(home) {
  const hash = createHash("sha256").update(lockDigest());
  // The playground brings the library along.
  const files = [home, join(root, "packages", "tidegate", "src")]
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((file) => file.isFile() && !file.parentPath.includes("node_modules"))
    .map((file) => join(file.parentPath, file.name))
    .sort();
  for (const file of files) hash.update(`${relative(home, file)}\0`).update(readFileSync(file));
  return hash.digest("hex");
}

export function step(what) {
  console.log(`\n▸ ${what}`);
}

/** Runs a script's body; a `Stop` ends it with its message alone. */
export async function main(body) {
  try {
    const code = await body();
    if (code) process.exitCode = code;
  } catch (error) {
    console.error(error instanceof Stop ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}
