import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const workshop = join(root, "test/docs/.snippets");
const run = promisify(execFile);

async function markdownFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(
    entries.map((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory())
        return /^(node_modules|dist|test|\..*)$/.test(entry.name) ? [] : markdownFiles(path);
      return entry.name.endsWith(".md") ? [path] : [];
    }),
  );
  return found.flat();
}

interface Snippet {
  readonly where: string;
  readonly code: string;
}

/** Every block marked ts or js that imports something is a program; fragments (signatures, single lines) import nothing. */
function snippetsOf(path: string, text: string): Snippet[] {
  const blocks = [...text.matchAll(/^```(?:ts|js)\n([\s\S]*?)^```/gm)];
  return blocks
    .map((block) => ({
      where: `${relative(root, path)}:${text.slice(0, block.index).split("\n").length}`,
      code: block[1] as string,
    }))
    .filter(({ code }) => /^import /m.test(code));
}

/** Servers stand on the test run's own ports, and a program that has said all ends. */
function asProgram(code: string): string {
  const redisPort = inject("redisPort");
  return `${code
    .replaceAll("new Redis()", `new Redis(${redisPort})`)
    .replaceAll("createClient()", `createClient({ url: "redis://127.0.0.1:${redisPort}" })`)
    .replaceAll("127.0.0.1:11211", `127.0.0.1:${inject("memcachedPort")}`)}\nprocess.exit(0);\n`;
}

const files = await markdownFiles(root);
const snippets = (
  await Promise.all(files.map(async (path) => snippetsOf(path, await readFile(path, "utf8"))))
).flat();

describe("every program in the documentation runs", () => {
  beforeAll(() => mkdir(workshop, { recursive: true }));
  afterAll(() => rm(workshop, { recursive: true, force: true }));

  it("finds the README's", () => {
    expect(snippets.filter(({ where }) => where.startsWith("README.md")).length).toBeGreaterThanOrEqual(2);
  });

  it.concurrent.each(snippets)("$where", { timeout: 60_000 }, async ({ where, code }) => {
    const file = join(workshop, `${where.replace(/[^\w]+/g, "-")}.mts`);
    await writeFile(file, asProgram(code));
    await run(process.execPath, ["--import", "tsx", file], { cwd: dirname(file), timeout: 50_000 });
  });
});

describe("docs/errors.md", () => {
  it("has every code the sources use, and no other", async () => {
    const page = await readFile(join(root, "docs/errors.md"), "utf8");
    const listed = new Set([...page.matchAll(/\*\*(TG_[A-Z_]+)\*\*/g)].map((match) => match[1]));
    const used = new Set<string>();
    for (const home of ["packages/tidegate/src", "packages/tidegate-server/src"]) {
      for (const name of await readdir(join(root, home), { recursive: true })) {
        if (!name.endsWith(".ts") || name.endsWith(".test.ts")) continue;
        const text = await readFile(join(root, home, name), "utf8");
        for (const match of text.matchAll(/\bTG_[A-Z_]+\b/g)) used.add(match[0]);
      }
    }
    expect([...listed].sort()).toEqual([...used].sort());
  });
});
