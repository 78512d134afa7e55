import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const mend = fileURLToPath(new URL("./young-garbage.ts", import.meta.url));

/** One thread and a small new space: V8 makes up its mind at its first collection, however busy the machine. */
const SOON = ["--single-threaded", "--max-semi-space-size=1"];

/** Whether what is made last stays young, when all its like are kept for long. */
function isYoungAfter(act: string): string {
  const script = `
    import { keepGarbageYoung } from ${JSON.stringify(mend)};
    ${act}
    const make = (i) => ({ i, next: { i } });
    const kept = [];
    let isYoung = true;
    for (let round = 0; round < 60 && isYoung; round++) {
      for (let i = 0; i < 100_000; i++) kept.push(make(i));
      isYoung = kept.slice(-100).filter((one) => %InYoungGeneration(one)).length > 50;
      if (kept.length > 1_500_000) kept.length = 0;
    }
    console.log(isYoung);`;
  const flags = [
    ...SOON,
    "--import",
    "tsx",
    "--allow-natives-syntax",
    "--input-type=module",
    "--eval",
    script,
  ];
  return execFileSync(process.execPath, flags, { encoding: "utf8" }).trim();
}

it("what is made where everything was kept so far is young all the same", () => {
  expect(isYoungAfter("")).toBe("false");
  expect(isYoungAfter("keepGarbageYoung();")).toBe("true");
});
