import type { PolicyAnswer, PolicyVersionAnswer, PolicyVersionLine } from "../api/types.js";
import type { PolicyVersion } from "../data.js";
import type { PolicyStatus } from "../policy/policy-status.js";
import { printable, printableLines } from "../printable.js";
import { type Cli, examples, type Flags, type Verbs, wholeNumber } from "./cli.js";
import { CliError, exit } from "./exit.js";
import { lineDiff } from "./line-diff.js";
import { pages } from "./pages.js";
import { policyNotes } from "./policy-notes.js";
import { addPolicyPresets } from "./policy-presets.js";
import { addPolicyRehearse } from "./policy-rehearse.js";
import { addPolicyRule } from "./policy-rule.js";
import { addPolicyValidate } from "./policy-validate.js";
import { query } from "./server-client.js";
import { table } from "./table.js";
import { relative } from "./times.js";

const versionId = wholeNumber(Number.MAX_SAFE_INTEGER);

export const addPolicy: Verbs = (program, act) => {
  const policy = program
    .command("policy")
    .summary("the rules in force, and those before")
    .description(
      "The policy in force and its earlier versions. A version is never changed: going back adds a new one.",
    )
    .addHelpText("after", examples("tidegate policy show"));

  addPolicyPresets(policy, act);
  addPolicyValidate(policy, act);
  addPolicyRehearse(policy, act);
  addPolicyRule(policy, act);

  policy
    .command("show")
    .description("Prints the policy in force, or an earlier version, as YAML.")
    .argument("[version]", "its number (the one in force)", versionId)
    .addHelpText("after", examples("tidegate policy show 3 > policy.yaml"))
    .action(
      act(async (cli, _flags: Flags, id: number | undefined) => {
        const { version, status } = await versionOf(cli, id);
        if (cli.isJson) return cli.printJson(version);
        for (const note of status === undefined ? [] : policyNotes(status)) cli.note(note);
        // Into a file goes the text and nothing else.
        if (!cli.io.stdout.isTTY) return cli.print(version.text);
        cli.print(`${cli.paint("dim", `# ${about(version)}`)}\n${printableLines(version.text)}`);
      }),
    );

  policy
    .command("history")
    .description("Lists the versions, newest first; the one in force has a star.")
    .option("--most <count>", "how many", wholeNumber(100_000), 20)
    .addHelpText("after", examples("tidegate policy history --most 5"))
    .action(
      act(async (cli, { most }: Flags & { most: number }) => {
        const admin = cli.admin();
        const { status } = (await admin.get("/v1/policy")) as PolicyAnswer;
        const versions = await pages<PolicyVersionLine>("versions", most, (count, last) =>
          admin.get(`/v1/policy/versions${query({ most: count, before: last?.id })}`),
        );
        if (cli.isJson) return cli.printJson({ inForce: status.version, versions });
        cli.print(historyTable(versions, status.version));
        for (const note of policyNotes(status)) cli.note(note);
      }),
    );

  policy
    .command("diff")
    .description("Shows what changed between two versions, line by line. Ends with 1 when they differ.")
    .argument("[from]", "its number (the one before)", versionId)
    .argument("[to]", "its number (the one in force)", versionId)
    .addHelpText("after", examples("tidegate policy diff 2 5"))
    .action(
      act(async (cli, _flags: Flags, from: number | undefined, to: number | undefined) => {
        const { version: after } = await versionOf(cli, to);
        const { version: before } = await versionOf(cli, from ?? Math.max(1, after.id - 1));
        const lines = lineDiff(before.text, after.text);
        const isSame = before.text === after.text;
        if (cli.isJson) cli.printJson({ from: before.id, to: after.id, isSame, lines });
        else
          cli.print(
            isSame
              ? `${before.id} and ${after.id} are the same.`
              : lines.map((line) => painted(cli, line)).join("\n"),
          );
        return isSame ? exit.ok : exit.no;
      }),
    );

  policy
    .command("rollback")
    .description("Puts an earlier version in force again, as a new version. Asks first.")
    .argument("[version]", "its number (the one before)", versionId)
    .option("--why <words>", "the reason, for the audit")
    .option("--yes", "do not ask")
    .addHelpText("after", examples('tidegate policy rollback 3 --why "too strict" --yes'))
    .action(
      act(async (cli, { why }: Flags & { why?: string }, to: number | undefined) => {
        await cli.confirm(`Put ${to === undefined ? "the version before" : `version ${to}`} in force?`);
        const { version } = (await cli.admin().send("POST", "/v1/policy/rollback", {
          ...(to !== undefined && { to }),
          ...(why !== undefined && { why }),
        })) as PolicyVersionAnswer;
        if (cli.isJson) cli.printJson(version);
        else cli.print(`In force is ${about(version)}.`);
      }),
    );
};

/** With what there is to say of the one in force, if that is asked for. */
async function versionOf(
  cli: Cli,
  id: number | undefined,
): Promise<{ version: PolicyVersion; status?: PolicyStatus }> {
  const admin = cli.admin();
  if (id !== undefined) return (await admin.get(`/v1/policy/versions/${id}`)) as PolicyVersionAnswer;
  const { version, status } = (await admin.get("/v1/policy")) as PolicyAnswer;
  if (version !== null) return { version, status };
  throw new CliError(
    exit.no,
    status.problem ?? "No policy is stored yet.",
    "Start the server with a file, or wait until its data can be read.",
  );
}

function about({ id, who, at, source, why }: PolicyVersionLine): string {
  return printable(
    `version ${id}, from ${source} by ${who}, ${relative(at)}${why === undefined ? "" : ` (${why})`}`,
  );
}

function historyTable(versions: readonly PolicyVersionLine[], inForce: number): string {
  return table(
    [
      { title: "VERSION", of: ({ id }) => `${id}${id === inForce ? " *" : ""}` },
      { title: "WHEN", of: ({ at }) => relative(at) },
      { title: "WHO", of: ({ who }) => who },
      { title: "FROM", of: ({ source }) => source },
      { title: "WHY", of: ({ why }) => why },
    ],
    versions,
  );
}

function painted(cli: Cli, line: string): string {
  const text = printable(line);
  if (line.startsWith("+")) return cli.paint("green", text);
  return line.startsWith("-") ? cli.paint("red", text) : text;
}
