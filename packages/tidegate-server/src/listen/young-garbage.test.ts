import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const mend = fileURLToPath(new URL("./young-garbage.ts", import.meta.url));

/** Whether what was made last is young, when all its like have been kept for long. */
function isYoungAfter(act: string): string {
  const script = `
    import { keepGarbageYoung } from ${JSON.stringify(mend)};
    ${act}
    const make = (i) => ({ i, next: { i } });
    const kept = [];
    for (let round = 0; round < 60; round++) {
      for (let i = 0; i < 100_000; i++) kept.push(make(i));
      if (kept.length > 1_500_000) kept.length = 0;
    }
    const last = kept.slice(-100);
    console.log(last.filter((one) => %InYoungGeneration(one)).length > 50);`;
  const flags = [
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
