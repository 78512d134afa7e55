import { Argument, type Command } from "commander";
import type { PolicyRule, PolicyRulesAnswer, PolicyVersionAnswer } from "../api/types.js";
import { printable } from "../printable.js";
import { type Acting, examples, type Flags } from "./cli.js";
import { segment } from "./server-client.js";
import { table } from "./table.js";

const modes = ["enforce", "shadow", "off"] as const;
type Mode = (typeof modes)[number];

const does: Readonly<Record<Mode, string>> = {
  enforce: "it refuses who is over its limits",
  shadow: "it judges and reports, and refuses nobody",
  off: "it does nothing",
};

export function addPolicyRule(policy: Command, act: Acting): void {
  policy
    .command("rules")
    .description("Lists the rules in force, with the mode of each.")
    .addHelpText("after", examples("tidegate policy rules"))
    .action(
      act(async (cli) => {
        const answer = (await cli.admin().get("/v1/policy/rules")) as PolicyRulesAnswer;
        if (cli.isJson) return cli.printJson(answer);
        if (answer.mode !== "enforce")
          cli.note(`The whole policy is ${answer.mode}: no rule refuses anybody.`);
        cli.print(
          answer.rules.length === 0
            ? "The policy has no rules."
            : table<PolicyRule>(
                [
                  { title: "RULE", of: ({ name }) => name },
                  { title: "MODE", of: ({ mode }) => mode },
                ],
                answer.rules,
              ),
        );
      }),
    );

  policy
    .command("rule")
    .description(
      "Switches one rule, as a new version with nothing else changed: off does nothing, shadow judges without refusing. Asks first.",
    )
    .argument("<rule>", "its name")
    .addArgument(new Argument("<mode>", "what it does from now on").choices(modes))
    .option("--why <words>", "the reason, for the audit")
    .option("--yes", "do not ask")
    .addHelpText("after", examples('tidegate policy rule req/ip off --why "customers complain" --yes'))
    .action(
      act(async (cli, { why }: Flags & { why?: string }, rule: string, mode: Mode) => {
        await cli.confirm(`Set the rule ${rule} to ${mode}?`);
        const path = `/v1/policy/rules/${segment(rule)}/mode`;
        const body = { mode, ...(why !== undefined && { why }) };
        const { version, before } = (await cli.admin().send("PUT", path, body)) as PolicyVersionAnswer;
        if (cli.isJson) return cli.printJson(version);
        if (before === undefined) cli.print(`${printable(rule)} is ${mode} already.`);
        else cli.print(`${printable(rule)} is ${mode}: ${does[mode]}. In force is version ${version.id}.`);
      }),
    );
}
