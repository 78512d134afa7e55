import { resolve } from "node:path";
import type { Command } from "commander";
import type { RehearsalReport } from "../api/types.js";
import { printableJson } from "../printable.js";
import { type Acting, type Cli, examples, type Flags } from "./cli.js";

export function addPolicyRehearse(policy: Command, act: Acting): void {
  policy
    .command("rehearse")
    .description(
      "Plays the requests the server met lately through a policy that is not in force, and says what would change: who would be refused, by which rule. Changes nothing.",
    )
    .argument("<file>", "tidegate.yaml, or what stands under policy in it")
    .addHelpText("after", examples("tidegate policy rehearse stricter.yaml"))
    .action(
      act(async (cli, _flags: Flags, file: string) => {
        const text = await textOf(cli, file);
        const report = (await cli.admin().send("POST", "/v1/rehearse", { policy: text })) as RehearsalReport;
        if (cli.isJson) return cli.print(printableJson(JSON.stringify(report, undefined, 2)));
        if (report.requests === 0)
          return cli.print(
            "The server met no request since it began, so there is nothing to rehearse with. On a log: tidegate replay.",
          );
        const { replayText } = await import("./replay-text.js");
        cli.print(replayText({ ...report, input: noFiles }, cli.paint));
      }),
    );
}

/** None was read. */
const noFiles = { files: [], lines: 0, malformed: 0, skipped: 0, samples: [] };

/** The policy alone: the rest of a configuration is the server's own. */
async function textOf({ io: { cwd, env } }: Cli, given: string): Promise<string> {
  // Reading files takes more than all the rest of the command: only those wait for it who want it.
  const { isBarePolicy } = await import("./validate-file.js");
  const { loadConfig } = await import("../config/load-config.js");
  const { readSource } = await import("../config/source.js");
  const file = resolve(cwd, given);
  const { text } = readSource(file);
  return isBarePolicy(text)
    ? text
    : loadConfig({ file, env: { ...env }, cwd, canLackTokens: true }).policyText;
}
