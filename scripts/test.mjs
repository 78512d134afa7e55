// `npm test`: everything, straight after a clone.
//   npm test                        install, build, check, and all tests
//   npm test -- earrrl              only test files whose path contains "earrrl" (any vitest argument works)
//   npm test -- --no-check earrrl   without `npm run check`
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, installPackages, installServers, main, step } from "./prepare.mjs";
import { run } from "./run.mjs";

await main(async () => {
  const args = process.argv.slice(2);
  const vitestArgs = args.filter((arg) => arg !== "--no-check");

  await installPackages();
  await installServers();
  await build();

  let checkCode = 0;
  if (vitestArgs.length === args.length) {
    step("npm run check");
    checkCode = await run("node", ["scripts/check.mjs"]);
  }

  step("tests");
  const { code, counts } = await runVitest(vitestArgs);
  if (checkCode !== 0) console.log("`npm run check` failed; see above.");
  if (code !== 0 && counts.failed === 0) console.log("vitest failed outside of any test; see above.");
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return checkCode || code;
});

/** With a temporary directory of its own, so that a run cut short leaves nothing behind either. */
async function runVitest(args) {
  const dir = mkdtempSync(join(tmpdir(), "tidegate-test-"));
  chmodSync(dir, 0o711); // PostgreSQL refuses to run as root, and must reach what it is given below
  try {
    const report = join(dir, "report.json");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const code = await run("vitest", ["run", ...reporters, ...args], { TMPDIR: dir });
    return { code, counts: count(report) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A file that fails before its first test counts as one failure. */
function count(report) {
  let result;
  try {
    result = JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return { passed: 0, failed: 0, skipped: 0 }; // vitest ended before it could write
  }
  const brokenFiles = result.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  return {
    passed: result.numPassedTests,
    failed: result.numFailedTests + brokenFiles.length,
    skipped: result.numPendingTests + (result.numTodoTests ?? 0),
  };
}
