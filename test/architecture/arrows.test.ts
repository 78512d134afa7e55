import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type Arrow, dashboardArrows, libraryArrows, serverArrows, violations } from "./arrows.js";
import { cyclesAmong, graphFrom, importsOf, readSources, type Sources } from "./imports.js";

const packages = fileURLToPath(new URL("../../packages/", import.meta.url));

/** A new package brings its own table. */
const arrowsOf: Record<string, readonly Arrow[]> = {
  tidegate: libraryArrows,
  "tidegate-server": serverArrows,
  dashboard: dashboardArrows,
};

describe.each(foldersIn(packages))("packages/%s", (name) => {
  const sources = readSources(join(packages, name, "src"));

  test("every import follows an arrow", () => {
    expect(violations(arrowsOf[name] ?? [], sources)).toEqual([]);
  });

  test("no import cycles", () => {
    expect(cyclesAmong(allImports(sources))).toEqual([]);
  });

  test("every room has a README", () => {
    const src = join(packages, name, "src");
    const rooms = ["", "stores", "algorithms"].flatMap((floor) =>
      foldersIn(join(src, floor)).map((room) => join(floor, room)),
    );
    expect(rooms.filter((room) => !existsSync(join(src, room, "README.md")))).toEqual([]);
  });
});

describe("the library", () => {
  const src = join(packages, "tidegate", "src");
  const sources = readSources(src);

  test("`tidegate` reaches no `node:` module and no package, not even by type", () => {
    expect(outsidersFrom("index.ts", sources)).toEqual([]);
  });
});

describe("the table forbids", () => {
  test.each<[what: string, file: string, source: string]>([
    [
      "an algorithm that reads a clock",
      "algorithms/earrrl/earrrl.ts",
      `import { now } from "../../clock.js";`,
    ],
    [
      "an algorithm that knows a store by type",
      "algorithms/earrrl/earrrl.ts",
      `import type { Store } from "../../store.js";`,
    ],
    [
      "an algorithm that knows another",
      "algorithms/earrrl/earrrl.ts",
      `export * from "../fixed-window/fixed-window.js";`,
    ],
    [
      "an algorithm that uses Node",
      "algorithms/earrrl/earrrl.ts",
      `import { performance } from "node:perf_hooks";`,
    ],
    [
      "a store that names an algorithm",
      "stores/redis/index.ts",
      `import { earrrl } from "../../algorithms/earrrl/earrrl.js";`,
    ],
    [
      "a store that knows policy",
      "stores/redis/index.ts",
      `import type { Rule } from "../../policy/rule.js";`,
    ],
    [
      "a store that knows another store",
      "stores/redis/index.ts",
      `import { memoryStore } from "../memory/index.js";`,
    ],
    ["a store that brings its client", "stores/redis/index.ts", `import { Redis } from "ioredis";`],
    ["a memory store that needs Node", "stores/memory/index.ts", `import { hash } from "node:crypto";`],
    ["a gate that names a store", "gate.ts", `import { memoryStore } from "./stores/memory/index.js";`],
    ["a seam that knows the gate", "store.ts", `import type { Gate } from "./gate.js";`],
    ["policy that knows HTTP", "policy/rule.ts", `import { refuse } from "../http/refusal.js";`],
    ["an adapter that loads its framework", "http/express.ts", `import express from "express";`],
    ["an adapter that loads it late", "http/express.ts", `const express = await import("express");`],
    ["testing in production code", "limiter.ts", `import { virtualClock } from "./testing/index.js";`],
    ["testing in the public face", "index.ts", `export { virtualClock } from "./testing/index.js";`],
    ["a way out of the package", "gate.ts", `import { freePort } from "../../../test/servers/index.js";`],
    ["a room nobody thought about", "utils/misc.ts", "export const x = 1;"],
  ])("%s", (_, file, source) => {
    expect(violations(libraryArrows, { [file]: source })).toHaveLength(1);
  });

  test.each<[what: string, file: string, source: string]>([
    [
      "a way into the library past its face",
      "proxy/a.ts",
      `import { x } from "../../../tidegate/src/guard.js";`,
    ],
    ["a proxy that knows where data is", "proxy/a.ts", `import { x } from "../data/embedded-data.js";`],
    ["an edge that knows who tells it", "edges/a.ts", `import type { X } from "../control/offenders.js";`],
    ["a primary database elsewhere than in its room", "api/a.ts", `import pg from "pg";`],
    [
      "a client that brings the service along",
      "client/a.ts",
      `import { x } from "../decide/decide-service.js";`,
    ],
  ])("in the server, %s", (_, file, source) => {
    expect(violations(serverArrows, { [file]: source })).toHaveLength(1);
  });

  test.each<[what: string, file: string, source: string]>([
    [
      "server code in the browser",
      "types.ts",
      `export { edgeModes } from "../../tidegate-server/src/api/types.ts";`,
    ],
    [
      "a way past the API's types",
      "pages/lists.tsx",
      `import type { Data } from "../../../tidegate-server/src/data.ts";`,
    ],
    ["a page that knows another", "pages/lists/lists.tsx", `import { Audit } from "../audit.tsx";`],
    ["a part that knows a page", "parts/table.tsx", `import { pages } from "../pages/pages.ts";`],
  ])("in the dashboard, %s", (_, file, source) => {
    expect(violations(dashboardArrows, { [file]: source })).toHaveLength(1);
  });
});

describe("the table allows", () => {
  test.each<[what: string, file: string, source: string]>([
    ["an algorithm its own files", "algorithms/earrrl/vectors.ts", `import { earrrl } from "./earrrl.js";`],
    [
      "an algorithm the pure spine",
      "algorithms/earrrl/earrrl.ts",
      `import {\n  type Limit,\n  x,\n} from "../../limit.js";`,
    ],
    ["a store the packed state", "stores/redis/index.ts", `import { pack } from "../packed/pack.js";`],
    ["a store a socket", "stores/memcached/client.ts", `import { connect } from "node:net";`],
    ["an adapter its framework's types", "http/express.ts", `import type { Request } from "express";`],
    [
      "the public face the default store",
      "index.ts",
      `export { memoryStore } from "./stores/memory/index.js";`,
    ],
    [
      "imports that are only talked about",
      "gate.ts",
      `/**\n import x from "express";\n*/\n// import "express"`,
    ],
  ])("%s", (_, file, source) => {
    expect(violations(libraryArrows, { [file]: source })).toEqual([]);
  });
});

test("a cycle is told as the way round; types may refer to each other", () => {
  const sources = {
    "a.ts": `import { b } from "./b.js";`,
    "b.ts": `import { c } from "./c.js";\nimport type { A } from "./a.js";`,
    "c.ts": `export { a } from "./a.js";`,
  };
  expect(cyclesAmong(allImports(sources))).toEqual(["a.ts → b.ts → c.ts → a.ts"]);
  expect(cyclesAmong(allImports({ ...sources, "c.ts": `export type { A } from "./a.js";` }))).toEqual([]);
});

test("a `node:` import is found however deep it hides", () => {
  const sources = {
    "index.ts": `export { a } from "./a.js";`,
    "a.ts": `import type { B } from "./b.js";`,
    "b.ts": `import type { Socket } from "node:net";\nimport "left-pad";`,
    "c.ts": `import "node:fs";`,
  };
  expect(outsidersFrom("index.ts", sources)).toEqual(["node:net", "left-pad"]);
});

function allImports(sources: Sources) {
  return Object.entries(sources).flatMap(([file, source]) => importsOf(file, source));
}

function outsidersFrom(start: string, sources: Sources): string[] {
  return [...graphFrom(start, allImports(sources))].filter((target) => !target.endsWith(".ts"));
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}
