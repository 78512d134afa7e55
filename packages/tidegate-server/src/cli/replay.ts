import { Option } from "commander";
import { printable, printableJson } from "../printable.js";
import type { ReplayReport } from "../rehearse/replay-report.js";
import { type Cli, examples, type Verbs, wholeNumber } from "./cli.js";
import { type ExitCode, exit, usageError } from "./exit.js";
import { outputFile, writeOutput } from "./output-file.js";
import type { ReplayFlags } from "./replay-run.js";

interface OutputFlags extends ReplayFlags {
  readonly html?: string;
  readonly failOn?: readonly FailOn[];
}

type FailOn = "newly-refused" | "false-positives";

export const addReplay: Verbs = (program, act) => {
  program
    .command("replay")
    .summary("what a policy would have done to recorded traffic")
    .description(
      "Runs access logs through a policy, the real rules and limits on a clock of their own: who would be refused, by which rule and when; with --against, what would change. Needs no server, and changes nothing.",
    )
    .argument(
      "<logs...>",
      "access logs, packed by gzip or not; - is what is piped in; several are merged by time",
    )
    .requiredOption(
      "--policy <file>",
      "the policy to try: a tidegate.yaml, or what stands under policy in it",
    )
    .option("--against <file>", "the policy in force, written the same way, to tell what would change")
    .addOption(
      new Option("--format <name>", "what the logs are (found out by their first lines)").choices([
        "combined",
        "common",
        "json",
        "caddy",
        "alb",
        "w3c",
        "decision-log",
      ]),
    )
    .option(
      "--template <text>",
      "how lines are written, as nginx's log_format: '$remote_addr [$time_local] …'",
    )
    .option(
      "--xff [field]",
      "the client is the last address in this header, or the last that is none of the file's trustedProxies (http_x_forwarded_for)",
    )
    .option("--window <duration>", "how much out of order lines may be (10s)")
    .option("--suggest", "suggest limits from the traffic itself")
    .option("--percentile <share>", "beside --suggest: whose peak is the measure (0.999)", fraction)
    .option("--headroom <factor>", "beside --suggest: how much above it (1.5)", factor)
    .option("--limit-clients <count>", "how many clients are told of one by one (50)", wholeNumber(100_000))
    .option("--anonymise", "digests instead of addresses, users and user agents in all that is told")
    .option("--anonymise-key <key>", "make the digests with this key, the same in every run", secretKey)
    .option("--html <file>", "write the report there, as one page with plots")
    .addOption(
      new Option("--fail-on <what...>", "end with 1 when there are any").choices([
        "newly-refused",
        "false-positives",
      ]),
    )
    .addHelpText(
      "after",
      examples(
        "tidegate replay /var/log/nginx/access.log* --policy new.yaml --against tidegate.yaml",
        "zcat access.log.*.gz | tidegate replay - --policy new.yaml --html report.html",
        `tidegate replay app.log --policy new.yaml --template '$remote_addr [$time_iso8601] "$request" $status'`,
        "tidegate replay access.log --policy new.yaml --against tidegate.yaml --fail-on newly-refused --json",
      ),
    )
    .action(
      act(async (cli, flags: OutputFlags, logs: string[]) => {
        validate(flags);
        const page = flags.html === undefined ? undefined : await outputFile(cli.io.cwd, flags.html);
        // Policies, YAML and the whole library: only those wait for them who replay.
        const { replayRun } = await import("./replay-run.js");
        const report = await replayRun(cli, flags, logs);
        if (cli.isJson) cli.print(printableJson(JSON.stringify(report, undefined, 2)));
        else {
          const { replayText } = await import("./replay-text.js");
          cli.print(replayText(report, cli.paint));
        }
        if (page !== undefined) await writePage(cli, page, report);
        return verdict(report, flags.failOn ?? []);
      }),
    );
};

function validate({ failOn = [], against, template, format }: OutputFlags): void {
  if (failOn.includes("newly-refused") && against === undefined)
    throw usageError(
      "--fail-on newly-refused compares two policies.",
      "Name the one in force with --against.",
    );
  if (template !== undefined && format !== undefined)
    throw usageError("--template and --format contradict each other.", "Give one of them.");
}

function verdict({ change, falsePositives }: ReplayReport, failOn: readonly FailOn[]): ExitCode {
  const isNewlyRefused = failOn.includes("newly-refused") && (change?.newlyRefused.requests ?? 0) > 0;
  const isWrong = failOn.includes("false-positives") && falsePositives.length > 0;
  return isNewlyRefused || isWrong ? exit.no : exit.ok;
}

async function writePage(cli: Cli, path: string, report: ReplayReport): Promise<void> {
  const { renderReport } = await import("../rehearse/render-report.js");
  await writeOutput(path, await renderReport(report));
  cli.note(`wrote ${printable(path)}`);
}

/** With an empty or short one whoever has the report could try all addresses. */
function secretKey(text: string): string {
  if (text.length >= 16) return text;
  throw usageError(
    `--anonymise-key has ${text.length} characters, and needs 16.`,
    "Take a long random one and keep it, or leave it out: then one is made up and forgotten.",
  );
}

function fraction(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && value < 1) return value;
  throw usageError(
    `--percentile ${JSON.stringify(text)} is no share.`,
    "Give a number between 0 and 1, such as 0.999.",
  );
}

function factor(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 1 && value <= 1000) return value;
  throw usageError(
    `--headroom ${JSON.stringify(text)} will not do.`,
    "Give a number from 1 to 1000, such as 1.5.",
  );
}
