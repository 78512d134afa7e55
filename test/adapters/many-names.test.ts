import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const run = promisify(execFile);
const library = new URL("../../packages/tidegate/dist/http/node.js", import.meta.url);
const responses = 3000;

/** How often V8 had to look for the name of the one header an app sets, by its own log. */
async function missesIn(prepare: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "tidegate-names-"));
  try {
    const log = join(folder, "v8.log");
    const app = `${prepare};
      const { OutgoingMessage } = await import("node:http");
      for (let i = 0; i < ${responses}; i++) new OutgoingMessage().setHeader("Content-Type", "text/plain");`;
    const flags = ["--log-ic", "--no-logfile-per-isolate", `--logfile=${log}`];
    await run(process.execPath, [...flags, "--input-type=module", "--eval", app]);
    const lines = (await readFile(log, "latin1")).split("\n");
    return lines.filter((line) => line.startsWith("KeyedStoreIC") && line.includes("content-type")).length;
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe("a node:http app that sets one header", () => {
  it("has V8 look for its name again and again without a gate, and not behind one", async () => {
    const behindGate = `const { tidegate } = await import(${JSON.stringify(library.href)}); tidegate({ limit: "100 per minute", headers: false })`;
    expect(await missesIn("")).toBeGreaterThan(responses / 2);
    expect(await missesIn(behindGate)).toBeLessThan(responses / 20);
  });

  it("may have put a method in setHeader's place that knows nothing of this", async () => {
    const app = `const http = await import("node:http");
      http.OutgoingMessage.prototype.setHeader = function () { this.req.url.length };
      const { tidegate } = await import(${JSON.stringify(library.href)});
      console.log(typeof tidegate({ limit: "100 per minute" }));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", app]);
    expect(stdout.trim()).toBe("function");
  });
});
