// npm may write a package-lock.json that names the optional binaries of one platform only. This adds an entry
// for every other one, told from the package's name (`@rolldown/binding-linux-x64-musl`), so that `npm ci`
// accepts the lock and other platforms install theirs. Run after changing dependencies:
//   node scripts/complete-lock.mjs [package-lock.json]
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

const systems = /-(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)-/;
const processors = /-(arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x64)(?:-|$)/;
const libcs = { gnu: "glibc", musl: "musl" };

const path = process.argv[2] ?? join(root, "package-lock.json");
const lock = JSON.parse(readFileSync(path, "utf8"));
const added = [];

for (const [holder, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const place = `node_modules/${name}`;
    if (lock.packages[place] || lock.packages[`${holder}/${place}`]) continue;
    const os = systems.exec(name)?.[1];
    const cpu = processors.exec(name)?.[1];
    const libc = libcs[/-(gnu|musl)/.exec(name)?.[1]];
    if (!cpu || !/^\d/.test(version)) {
      console.warn(
        `${name}@${version}, wanted by ${holder}, is not in the lock and names no platform: left out`,
      );
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

lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en")),
);
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(
  added.length === 0 ? "The lock is complete." : `Added ${added.length} entries: ${added.join(", ")}`,
);
