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

const resolve = { alias: [...entryPoints("tidegate"), ...entryPoints("tidegate-server")] };

/** Tests in which a fraction of a second counts: beside other files they would depend on the machine's speed. */
const alone = [
  "packages/tidegate/src/{deadlines,guard}.test.ts",
  "packages/tidegate/src/algorithms/{concurrency,earrrl,fixed-window,sliding-log}/*.test.ts",
  "packages/tidegate/src/stores/memcached/memcached-{client,store}.test.ts",
  "packages/tidegate/src/stores/redis/directory/redis-directory.test.ts",
  "packages/tidegate-server/src/control/rhythm.test.ts",
  "test/directory/crowded.test.ts",
  "test/faults/{gate-outage,gate-redis,redis,redis-cluster}.test.ts",
  "test/holes/*.test.ts",
  "test/seeds/{s3,s4}-*.test.ts",
  "test/server/{control-faults,customers,decide-client,forward-auth-*,policy-keeper}.test.ts",
  "test/server/proxy-{failures,hardening,upgrade}.test.ts",
  "test/servers/fault-proxy.test.ts",
];

const patience = {
  setupFiles: ["test/servers/early-in-the-minute.ts"],
  testTimeout: 40_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 15_000 } },
};

export default defineConfig({
  test: {
    // "none" skips starting servers, for tests that need none.
    globalSetup: process.env.TIDEGATE_TEST_SERVERS === "none" ? [] : ["test/servers/global-setup.ts"],
    projects: [
      {
        resolve,
        test: {
          ...patience,
          name: "alone",
          include: alone,
          maxWorkers: 1,
        },
      },
      {
        resolve,
        test: {
          ...patience,
          name: "together",
          include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: ["**/node_modules/**", ...alone],
          maxWorkers: 2,
        },
      },
    ],
  },
});
