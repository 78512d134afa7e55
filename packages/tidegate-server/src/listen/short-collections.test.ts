import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const mend = fileURLToPath(new URL("./short-collections.ts", import.meta.url));
const newSpaceMb = 4;

interface Collections {
  /** How much of the new space was made between two, what survived not counted: the median. */
  readonly fullness: number;
  /** What helper threads did for all of them. */
  readonly helpedMs: number;
}

/** Collections of a process that makes little garbage in each turn, some of which survives. */
function collectionsAfter(act: string): Collections {
  const script = `
    import { shortenCollections } from ${JSON.stringify(mend)};
    ${act}
    console.log("begun");
    const kept = [];
    let turns = 0;
    const turn = () => {
      for (let i = 0; i < 200; i++) kept[(turns * 200 + i) % 2_000] = new Array(20).fill(i);
      if (++turns < 3_000) setImmediate(turn);
    };
    turn();`;
  const size = [`--min-semi-space-size=${newSpaceMb}`, `--max-semi-space-size=${newSpaceMb}`];
  const flags = [
    "--trace-gc-nvp",
    "--no-allocation-site-pretenuring",
    ...size,
    "--import",
    "tsx",
    "--input-type=module",
    "--eval",
    script,
  ];
  const told = execFileSync(process.execPath, flags, { encoding: "utf8" }).split("begun")[1] as string;
  const lines = told.split("\n").filter((line) => line.includes(" gc=s "));
  const all = (name: string) => lines.map((line) => Number(line.split(` ${name}=`)[1]?.split(" ")[0]));
  const taken = all("allocated").sort((a, b) => a - b);
  return {
    fullness: (taken[taken.length >> 1] as number) / (newSpaceMb * 2 ** 20),
    helpedMs: all("background.scavenge.parallel").reduce((sum, each) => sum + each, 0),
  };
}

it("V8 alone collects early, with helper threads", () => {
  const { fullness, helpedMs } = collectionsAfter("");
  expect(fullness).toBeLessThan(0.75);
  expect(helpedMs).toBeGreaterThan(0);
});

it("the new space is nearly full when it is collected", () => {
  const { fullness } = collectionsAfter("shortenCollections(2);");
  expect(fullness).toBeGreaterThan(0.75);
  expect(fullness).toBeLessThanOrEqual(1);
});

it("on one core a collection waits for no helper", () => {
  const { fullness, helpedMs } = collectionsAfter("shortenCollections(1);");
  expect(fullness).toBeGreaterThan(0.75);
  expect(helpedMs).toBe(0);
});
