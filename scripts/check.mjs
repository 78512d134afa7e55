// `npm run check`: everything about the code that can be known without running it.
import { main } from "./prepare.mjs";
import { collect } from "./run.mjs";

await main(async () => {
  const build = check("build", "node", ["scripts/build.mjs"]);
  const outcomes = await Promise.all([
    build,
    build.then((ok) => ok && check("packed package", "node", ["scripts/check-package.mjs"])),
    check("types of tests", "tsc", ["-p", "tsconfig.test.json"]),
    check("lint and format", "biome", ["check", "--colors=off", "."]),
    check("unused code", "knip", ["--no-progress"]),
    check("import arrows", "vitest", ["run", "test/architecture"], { TIDEGATE_TEST_SERVERS: "none" }),
    check("generated Lua", "node", ["scripts/assemble-lua.mjs", "--check"]),
    check("package lock", "node", ["scripts/complete-lock.mjs", "--check"]),
  ]);
  return outcomes.every(Boolean) ? 0 : 1;
});

/** One line per check as it ends, and all it printed if it failed. */
async function check(name, command, args, env) {
  const started = performance.now();
  const { code, output } = await collect(command, args, env);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${code === 0 ? "✓" : "✗"} ${name.padEnd(16)} ${seconds.padStart(5)} s`);
  if (code !== 0) console.log(`\n${output.trim()}\n`);
  return code === 0;
}
