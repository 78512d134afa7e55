// Packs each published package as npm would publish it, and lets publint and attw look at the tarball.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main, Stop } from "./prepare.mjs";
import { collect } from "./run.mjs";

const published = ["packages/tidegate", "packages/tidegate-server"];

await main(async () => {
  await Promise.all(published.map(inspect));
});

async function inspect(folder) {
  const dir = mkdtempSync(join(tmpdir(), "tidegate-pack-"));
  try {
    await must("npm", ["pack", "--silent", "--workspace", folder, "--pack-destination", dir]);
    const tarball = join(dir, readdirSync(dir)[0]);
    if (folder.endsWith("-server")) await mustContain(tarball, "package/dist/dashboard/index.html");
    await Promise.all([
      must("publint", [tarball, "--strict"]),
      must("attw", [tarball, "--profile", "esm-only", "--no-color", "--no-emoji"]),
    ]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function mustContain(tarball, file) {
  const { output } = await collect("tar", ["-tzf", tarball]);
  if (!output.split("\n").includes(file)) throw new Stop(`The package lacks ${file}.`);
}

async function must(command, args) {
  const { code, output } = await collect(command, args);
  if (code !== 0) throw new Stop(`${command} ${args.join(" ")}\n${output}`);
}
