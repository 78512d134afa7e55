import type { Command } from "commander";
import { type Acting, type Cli, examples, type Flags } from "./cli.js";
import { usageError } from "./exit.js";
import { table } from "./table.js";

export function addPolicyPresets(policy: Command, act: Acting): void {
  policy
    .command("presets")
    .description(
      "Lists policies to start from, or prints one, with comments that say what to change. Needs no server.",
    )
    .argument("[name]", "which one to print")
    .option("--whole", "print a whole tidegate.yaml, with the settings its rules need")
    .addHelpText("after", examples("tidegate policy presets website --whole > tidegate.yaml"))
    .action(
      act(async (cli, { whole = false }: Flags & { whole?: boolean }, name: string | undefined) => {
        const { presetNames, presetPolicy } = await import("../config/preset-policies.js");
        if (name === undefined) {
          if (whole) throw usageError("Which preset?", `Name one: ${presetNames.join(", ")}.`);
          return list(
            cli,
            presetNames.map((each) => presetPolicy(each) as Line),
          );
        }
        const preset = presetPolicy(name);
        if (preset === undefined)
          throw usageError("There is no such preset.", `There are ${presetNames.join(", ")}.`);
        const { about } = preset;
        const text = whole ? preset.whole : preset.text;
        return cli.isJson ? cli.printJson({ name, about, text }) : cli.print(text);
      }),
    );
}

interface Line {
  readonly name: string;
  readonly about: string;
}

function list(cli: Cli, presets: readonly Line[]): undefined {
  if (cli.isJson) return cli.printJson({ presets: presets.map(({ name, about }) => ({ name, about })) });
  return cli.print(
    table(
      [
        { title: "NAME", of: ({ name }) => name },
        { title: "FOR", of: ({ about }) => about },
      ],
      presets,
    ),
  );
}
