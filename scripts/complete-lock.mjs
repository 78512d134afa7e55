// npm may write a package-lock.json that names the optional binaries of one platform only. This adds an entry
// for every other one, told from the package's name (`@rolldown/binding-linux-x64-musl`), so that `npm ci`
// accepts the lock and other platforms install theirs. Run after changing dependencies:
//   node scripts/complete-lock.mjs [package-lock.json]
// With --check it writes nothing, and exits with 1 if an entry is missing.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

const systems = /-(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)-/;
const processors = /-(arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x32|x64)(?:-|$)/;
const libcs = { gnu: "glibc", musl: "musl" };

const isCheck = process.argv.includes("--check");
const path = process.argv.slice(2).find((given) => given !== "--check") ?? join(root, "package-lock.json");
const lock = JSON.parse(readFileSync(path, "utf8"));
const added = [];
const unnamed = [];

for (const [holder, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, wanted] of Object.entries(optionalDependencies)) {
    const place = `node_modules/${name}`;
    if (lock.packages[place] || lock.packages[`${holder}/${place}`]) continue;
    const version = /^=?(\d.*)/.exec(wanted)?.[1];
    const os = systems.exec(name)?.[1];
    const cpu = processors.exec(name)?.[1];
    const libc = libcs[/-(gnu|musl)/.exec(name)?.[1]];
    if (!cpu || !version) {
      unnamed.push(`${name}@${wanted}, wanted by ${holder}`);
      continue;
    }
    lock.packages[place] = {
      version,
      cpu: [cpu],
      ...(dev && { dev }),
      ...(libc && { libc: [libc] }),
      optional: true,
      ...(os && { os: [os] }),
    };
    added.push(name);
  }
}

if (!isCheck && added.length > 0) {
  lock.packages = Object.fromEntries(
    Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en")),
  );
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
}
if (added.length > 0)
  console.log(`${isCheck ? "Missing" : "Added"} ${added.length} entries: ${added.join(", ")}`);
if (isCheck && added.length > 0) console.log("Run `node scripts/complete-lock.mjs`.");
for (const each of unnamed)
  console.log(`${each}, is not in the lock, and which platform it is for can not be told: add it by hand.`);
if (added.length + unnamed.length === 0) console.log("The lock is complete.");
process.exitCode = unnamed.length > 0 || (isCheck && added.length > 0) ? 1 : 0;
