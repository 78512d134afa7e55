import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** `tidegate` and `tidegate/redis` mean the sources in tests: no build stands between an edit and its test. */
function entryPoints(name: string): { find: RegExp; replacement: string }[] {
  const home = new URL(`packages/${name}/`, import.meta.url);
  const { exports } = JSON.parse(readFileSync(new URL("package.json", home), "utf8"));
  return Object.entries<{ default?: string }>(exports).flatMap(([entry, target]) => {
    if (!target.default) return [];
    const source = target.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    return {
      find: new RegExp(`^${entry.replace(".", name)}$`),
      replacement: fileURLToPath(new URL(source, home)),
    };
  });
}

export default defineConfig({
  resolve: { alias: [...entryPoints("tidegate"), ...entryPoints("tidegate-server")] },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    // "none" skips starting servers, for tests that need none.
    globalSetup: process.env.TIDEGATE_TEST_SERVERS === "none" ? [] : ["test/servers/global-setup.ts"],
    // One file at a time: beside a second one, tests that wait for servers would depend on the machine's speed.
    maxWorkers: 1,
    testTimeout: 40_000,
    hookTimeout: 60_000,
  },
});
