import type { Command } from "commander";
import { ConfigFileError, type ConfigProblem } from "../config/config-file-error.js";
import { printable, printableLines } from "../printable.js";
import { type Acting, type Cli, examples, type Flags } from "./cli.js";
import { CliError, type ExitCode, exit } from "./exit.js";

export function addPolicyValidate(policy: Command, act: Acting): void {
  policy
    .command("validate")
    .description(
      "Reads a tidegate.yaml, or a policy alone, and says what is wrong with it: line, column, path and what to write. Needs no server. Ends with 1 when it can not be used.",
    )
    .argument("<file>", "tidegate.yaml, or what stands under policy in it")
    .addHelpText("after", examples("tidegate policy validate tidegate.yaml"))
    .action(
      act(async (cli, _flags: Flags, file: string) => {
        // Reading files takes more than all the rest of the command: only those wait for it who want it.
        const { validateFile } = await import("./validate-file.js");
        try {
          return valid(cli, file, validateFile(file, cli.io));
        } catch (error) {
          if (!(error instanceof ConfigFileError)) throw error;
          if (error.code === "TG_CONFIG_READ") throw unreadable(file, error);
          return invalid(cli, file, error);
        }
      }),
    );
}

function unreadable(file: string, { problems, code }: ConfigFileError): CliError {
  const [problem] = problems;
  return new CliError(
    exit.usage,
    `${file}: ${problem?.message ?? "It can not be read."}`,
    "Name the file to look at, a tidegate.yaml or a policy alone, as it is seen from this folder.",
    { code },
  );
}

function valid(cli: Cli, file: string, warnings: readonly ConfigProblem[]): ExitCode {
  if (cli.isJson) cli.printJson({ ok: true, file, problems: [], warnings });
  else {
    for (const { line, column, path, message, help, code } of warnings) {
      const where = line === undefined ? file : `${file}:${line}:${column}`;
      cli.print(cli.paint("yellow", printable(`${where} ${path}: ${message} ${help} [${code}]`)));
    }
    cli.print(`${printable(file)} ${cli.paint("green", "can be used")}.`);
  }
  return exit.ok;
}

function invalid(cli: Cli, file: string, error: ConfigFileError): ExitCode {
  if (cli.isJson) cli.printJson({ ok: false, file, problems: error.problems, warnings: [] });
  else cli.print(printableLines(error.message.replaceAll(error.file, file)));
  return exit.no;
}
