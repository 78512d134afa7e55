import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");

/** Interfaces and types by name, without comments and the way they are laid out. */
function declarations(code: string): Map<string, string> {
  const bare = code.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\s+/g, " ");
  const found = bare.matchAll(/\b(?:interface (\w+) \{[^{}]*\}|type (\w+) = [^;{]*;)/g);
  return new Map([...found].map(([text, one, other]) => [(one ?? other) as string, text]));
}

it("the page on edges of your own shows the whole interface as it is", async () => {
  const page = await read("docs/server/edges/write-your-own.md");
  const [, shown = ""] = /## The interface\n[\s\S]*?^```ts\n([\s\S]*?)^```/m.exec(page) ?? [];
  const written = declarations(await read("packages/tidegate-server/src/edge.ts"));
  expect(written.size).toBeGreaterThan(5);
  expect(declarations(shown)).toEqual(written);
});
