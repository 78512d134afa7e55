// `npm run figures` draws the figures of docs/ with the command anybody has: `tidegate simulate … --svg`.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Io } from "../packages/tidegate-server/src/cli/io.js";
import { run } from "../packages/tidegate-server/src/cli/run.js";

/** Each figure's file name, and what is written after `tidegate simulate`. */
export const figures: Readonly<Record<string, readonly string[]>> = {
  "earrrl-convergence-half-life-10.svg": ["convergence", "--half-life", "10s"],
  "earrrl-convergence-half-life-1.svg": ["convergence", "--half-life", "1s"],
  "reform.svg": ["reform", "--limit", "fixed-window 10 per 10s", "--limit", "earrrl"],
  "reform-all.svg": ["reform"],
  "overage.svg": ["overage"],
  "gaming.svg": ["gaming"],
  "botnet.svg": ["botnet"],
};

/** Into a folder; throws with what the command said if one can not be drawn. */
export async function drawFigures(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [file, args] of Object.entries(figures)) {
    let said = "";
    const code = await run(
      ["simulate", ...args, "--svg", file],
      quiet(folder, (text) => {
        said += text;
      }),
    );
    if (code !== 0) throw new Error(`${file}: ${said}`);
  }
}

function quiet(cwd: string, hear: (text: string) => void): Io {
  return {
    stdout: { write: () => {}, isTTY: false },
    stderr: { write: hear, isTTY: false },
    env: {},
    cwd,
    canAsk: false,
    ask: async () => undefined,
    interrupted: new AbortController().signal,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = fileURLToPath(new URL("../docs/figures/", import.meta.url));
  await drawFigures(folder);
  for (const file of Object.keys(figures))
    console.log(`docs/figures/${file}  ${(statSync(join(folder, file)).size / 1024).toFixed(0)} kB`);
}
