import { Command, CommanderError, Help } from "commander";
import { ConfigError, TidegateError } from "tidegate";
import { ConfigFileError } from "../config/config-file-error.js";
import { printable, printableJson, printableLines } from "../printable.js";
import { version } from "../version.js";
import { type Acting, type Cli, cliOf, examples, type Flags } from "./cli.js";
import { CliError, exit, usageError } from "./exit.js";
import type { Io } from "./io.js";
import { verbs } from "./verbs.js";

/** Runs one command line to its end, and answers the exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  let code: number = exit.ok;
  const act: Acting =
    (verb) =>
    async (...given) => {
      const command = given.pop() as Command;
      given.pop();
      const flags = command.optsWithGlobals();
      const cli: Cli = cliOf(io, flags as Flags);
      try {
        code =
          ((await (verb as (...all: unknown[]) => unknown)(cli, flags, ...given)) as number | undefined) ??
          exit.ok;
      } finally {
        await cli.close();
      }
    };
  const isJson = argv.includes("--json");
  let usage = "";
  const program = programOf(io, act, (text) => {
    if (isJson) usage += text;
    else io.stderr.write(printableLines(text));
  });
  try {
    await program.parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) return told(error, io, isJson);
    if (error.exitCode === 0) return exit.ok;
    return isJson ? told(misunderstood(error, usage), io, isJson) : exit.usage;
  }
}

function misunderstood({ code, message }: CommanderError, usage: string): CliError {
  return code === "commander.help"
    ? usageError("A verb is missing.", usage.trim())
    : usageError(message.replace(/^error: /, ""), "Add --help to see what can be written.");
}

function programOf(io: Io, act: Acting, writeErr: (text: string) => void): Command {
  const program = new Command("tidegate")
    .description("A rate limiter in front of your apps: run it, ask it, change it.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "say what can be written here")
    .option("--url <address>", "of the admin API (TIDEGATE_URL; http://127.0.0.1:8088)")
    .option("--token <token>", "for the admin API; better in TIDEGATE_TOKEN")
    .option(
      "--redis <url>",
      "without a server, straight on its Redis; better in TIDEGATE_REDIS, for other users see command lines",
    )
    .option("-c, --config <file>", "beside --redis: the server's tidegate.yaml, for its prefix and edges")
    .option("--json", "answer in JSON")
    .addHelpText(
      "after",
      `${examples("tidegate start", "tidegate why 203.0.113.7", 'tidegate list add blocklist 203.0.113.7 --for 1h --why "scraper"')}

Exit codes: 0 fine, 1 the answer is no (refused, not valid, not found), 2 not understood, 3 no server there, 4 the server declined.`,
    )
    .configureHelp({
      showGlobalOptions: true,
      sortSubcommands: false,
      // What a verb says of an option itself is not said twice.
      visibleGlobalOptions(command) {
        const own = command.options.map(({ long }) => long);
        return Help.prototype.visibleGlobalOptions
          .call(this, command)
          .filter(({ long }) => !own.includes(long));
      },
    })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr,
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getErrHelpWidth: () => io.stderr.columns ?? 80,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError("(add --help to see what can be written)")
    .exitOverride();
  for (const add of verbs) add(program, act);
  return program;
}

function told(error: unknown, io: Io, isJson: boolean): number {
  const { message, help, code, exit: exitCode } = wordsOf(error);
  if (isJson) {
    const words = help === "" ? apart(error, message) : { message, help };
    io.stderr.write(
      `${printableJson(JSON.stringify({ error: { ...words, ...(code && { code }), exit: exitCode } }))}\n`,
    );
  } else
    io.stderr.write(
      `${printableLines(`tidegate: ${message}`)}${help === "" ? "" : `\n${printable(help)}`}\n`,
    );
  return exitCode;
}

/** Our errors' messages end with their help and code: a script gets them apart. */
function apart(error: unknown, message: string): { readonly message: string; readonly help: string } {
  if (!(error instanceof TidegateError)) return { message, help: "" };
  const { help, code } = error;
  const end = ` ${help} [${code}]`;
  return { message: message.endsWith(end) ? message.slice(0, -end.length) : message, help };
}

function wordsOf(error: unknown): { message: string; help: string; code?: string | undefined; exit: number } {
  if (error instanceof CliError) return error;
  // Their messages end with the help.
  if (error instanceof ConfigError || error instanceof ConfigFileError)
    return { message: error.message, help: "", code: error.code, exit: exit.usage };
  if (error instanceof TidegateError)
    return { message: error.message, help: "", code: error.code, exit: exit.no };
  return { message: error instanceof Error ? error.message : String(error), help: "", exit: exit.no };
}
