import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { loadConfig } from "tidegate-server";
import { describe, expect, it, onTestFinished } from "vitest";
import { run } from "../../packages/tidegate-server/src/cli/run.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs/server"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/server/${name}`),
].map((name) => join(root, name));

/** The blocks of one language, and where they stand. */
function blocks(language: string): { where: string; text: string }[] {
  return pages.flatMap((page) => {
    const whole = readFileSync(page, "utf8");
    return [...whole.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map((match) => ({
      where: `${relative(root, page)}:${whole.slice(0, match.index).split("\n").length}`,
      text: match[1] as string,
    }));
  });
}

const settings =
  /^(listen|upstreams|trustedProxies|store|policy|decide|admin|customers|control|edges|decisionLog|identify|proxy):/m;

describe("every tidegate.yaml in the documentation is accepted", () => {
  const files = blocks("yaml").filter(({ text }) => settings.test(text));

  it("finds the README's", () => {
    expect(files.some(({ where }) => where.startsWith("README.md"))).toBe(true);
  });

  it.each(files)("$where", ({ text }) => {
    const folder = mkdtempSync(join(tmpdir(), "tidegate-docs-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "tidegate.yaml");
    writeFileSync(
      file,
      /^upstreams:/m.test(text) ? text : `${text}\nupstreams: [{ url: "http://127.0.0.1:3000" }]\n`,
    );
    const named = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [
      name as string,
      sampleOf(name as string),
    ]);
    const { warnings } = loadConfig({ file, env: Object.fromEntries(named) });
    expect(warnings.filter(({ code }) => code !== "TG_POLICY_EMPTY")).toEqual([]);
  });
});

/** What such a variable would hold. */
function sampleOf(name: string): string {
  if (name.startsWith("REDIS")) return "redis://127.0.0.1:6379";
  if (name.startsWith("DATABASE")) return "postgres://127.0.0.1/customers";
  return "a-long-enough-token";
}

describe("every command in the documentation is one", () => {
  const lines = blocks("sh")
    .flatMap(({ where, text }) => text.split("\n").map((line) => ({ where, line })))
    .filter(({ line }) => /^(\$ )?tidegate /.test(line));
  const commands = [...new Map(lines.map((each) => [verbsOf(each.line).join(" "), each])).values()];

  it("finds the server's", () => {
    expect(commands.length).toBeGreaterThan(3);
  });

  it.each(commands)("$where: $line", async ({ line }) => {
    let output = "";
    const write = (text: string): boolean => {
      output += text;
      return true;
    };
    const io = { stdout: { write }, stderr: { write }, env: {} } as unknown as Parameters<typeof run>[1];
    expect(await run([...verbsOf(line), "--help"], io), output).toBe(0);
    const flags = [...line.replace(/#.*/, "").matchAll(/\s(--[a-z-]+)/g)].map(([, flag]) => flag as string);
    for (const flag of flags) expect(output).toContain(flag);
  });
});

/** `tidegate policy rollback --to 3` is the verbs policy and rollback. */
function verbsOf(line: string): string[] {
  const words = line.replace(/^\$ /, "").replace(/#.*/, "").trim().split(/\s+/).slice(1);
  const families = ["list", "customer", "client", "policy", "edge"];
  const [first = ""] = words;
  if (first.startsWith("-")) return [];
  return families.includes(first) ? words.slice(0, 2) : words.slice(0, 1);
}
