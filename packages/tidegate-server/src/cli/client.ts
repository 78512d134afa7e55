import type { Verdict } from "tidegate";
import type { ClearAnswer, ExplainAnswer } from "../api/types.js";
import { printable } from "../printable.js";
import { type Cli, examples, type Flags, type Verbs } from "./cli.js";
import { heldFilter, isDigest, type RequestFlags, requestFacts, withRequestOptions } from "./client-facts.js";
import { addClientSeen } from "./client-seen.js";
import { heldBy } from "./edge-offenders.js";
import { type ExitCode, exit } from "./exit.js";
import { heldTable, listedText, refusedWords, tellHeld } from "./held-text.js";
import { table } from "./table.js";
import { iso, relative, span } from "./times.js";

export const addClient: Verbs = (program, act) => {
  const client = program
    .command("client")
    .summary("what is counted of a client, and how to forget it")
    .description("What is counted of a client now, and how to forget it.")
    .addHelpText("after", examples("tidegate client show 203.0.113.7"));

  addClientSeen(client, act);

  withRequestOptions(
    client
      .command("show")
      .description(
        "What every rule has counted of this client, and until when it is held, here and at the edges.",
      )
      .argument(
        "<client>",
        "an address, customer:<id>, user:<id>, account:<name>, or a digest as edges have it",
      ),
  )
    .addHelpText("after", examples("tidegate client show 203.0.113.7 --path /search"))
    .action(
      act(async (cli, flags: RequestFlags & Flags, given: string) => {
        if (isDigest(given)) return showKey(cli, given);
        const subject = requestFacts(given, flags);
        const explained = (await cli.admin().send("POST", "/v1/explain", { subject })) as ExplainAnswer;
        if (cli.isJson) return cli.printJson(explained);
        const refused = refusedWords(explained);
        if (refused !== undefined) cli.print(`${refused}.`);
        const verdicts = explained.rules.flatMap(({ verdicts }) => verdicts);
        const listed = listedText(explained);
        if (listed !== undefined) cli.print(listed);
        cli.print(verdicts.length === 0 ? "No rule counts it." : verdictsTable(verdicts));
        await tellHeld(cli, explained);
        return exit.ok;
      }),
    );

  withRequestOptions(
    client
      .command("clear")
      .description(
        "Forgets what was counted of a client and lifts its holds, in every rule that counts by what is given here, and takes it off the edges, where it does not come back for a while (control.holdOff). A rule by address and account wants both. Asks first when there are several.",
      )
      .argument(
        "<clients...>",
        "addresses, customer:<id>, user:<id>, account:<name>, or digests as edges have them",
      ),
  )
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      examples(
        "tidegate client clear 203.0.113.7 --account eva",
        "tidegate client clear 203.0.113.7 203.0.113.8 --yes",
      ),
    )
    .action(
      act(async (cli, flags: RequestFlags & Flags, given: string[]) => {
        const bodies = given.map((each) =>
          isDigest(each) ? { key: each.toLowerCase() } : { subject: requestFacts(each, flags) },
        );
        if (bodies.length > 1) await cli.confirm(`Forget ${bodies.length} clients?`);
        const admin = cli.admin();
        const answers: (ClearAnswer & { client: string })[] = [];
        for (const [i, body] of bodies.entries()) {
          const cleared = (await admin.send("POST", "/v1/clear", body)) as ClearAnswer;
          answers.push({ client: given[i] as string, ...cleared });
        }
        if (cli.isJson) cli.printJson(answers);
        else for (const answer of answers) cli.print(clearedText(answer));
        return answers.every(isNothing) || answers.some(isLeaving) ? exit.no : exit.ok;
      }),
    );
};

async function showKey(cli: Cli, key: string): Promise<ExitCode> {
  const held = await heldBy(cli, 500, heldFilter(key));
  if (cli.isJson) cli.printJson(held);
  else cli.print(held.length === 0 ? "Nobody is held under this key." : heldTable(held));
  return held.length === 0 ? exit.no : exit.ok;
}

function verdictsTable(verdicts: readonly Verdict[]): string {
  return table(
    [
      { title: "LEVEL", of: ({ name }) => name },
      { title: "KEY", of: ({ key }) => key },
      { title: "LEFT", of: ({ remaining }) => Number(remaining.toPrecision(6)), isNumber: true },
      { title: "LIMIT", of: ({ limit }) => limit, isNumber: true },
      { title: "WINDOW", of: ({ windowMs }) => span(windowMs) },
      { title: "STATE", of: stateOf },
      {
        title: "WHOLE AGAIN",
        of: ({ resetAfterMs }) => (resetAfterMs > 0 ? `in ${span(resetAfterMs)}` : "now"),
      },
    ],
    verdicts,
  );
}

function stateOf({ allowed, shadow, heldUntil, at }: Verdict): string {
  if (heldUntil != null && heldUntil > at) return `held, ends ${relative(heldUntil, at)}`;
  const answer = allowed ? "passes" : "refused";
  return shadow ? `${answer} (shadow)` : answer;
}

function isNothing({ cleared, edges = [] }: ClearAnswer): boolean {
  return cleared.length === 0 && edges.length === 0;
}

/** An edge that could not be told refuses it still. */
function isLeaving({ edges = [] }: ClearAnswer): boolean {
  return edges.some(({ standing }) => standing.some(({ state }) => state === "leaving"));
}

function clearedText(answer: ClearAnswer & { client: string }): string {
  const { client, cleared, unknown, edges = [], holdOffUntil } = answer;
  const wholly = cleared.filter(({ missing }) => missing === undefined).map(({ rule }) => printable(rule));
  const partly = cleared.filter(({ missing }) => missing !== undefined);
  const standing = edges.flatMap((held) => held.standing);
  const waits = new Set(standing.filter(({ state }) => state === "leaving").map(({ edge }) => edge));
  const left = [...new Set(edges.flatMap((held) => held.edges))].filter((edge) => !waits.has(edge));
  const names = left.length === 0 ? "the edges" : left.map(printable).join(", ");
  const isOff = edges.length > 0 && (left.length > 0 || waits.size === 0);
  const waiting = [...waits].map(printable).join(", ");
  const said = [
    ...(wholly.length > 0 ? [`forgotten by ${wholly.join(", ")}`] : []),
    ...partly.map(
      ({ rule, missing = [] }) =>
        `by ${printable(rule)} only as far as known: add ${missing.map(flagFor).join(" ")}`,
    ),
    ...(cleared.length === 0 && !isDigest(client) ? ["no rule counts by this"] : []),
    ...(cleared.length === 0 && isDigest(client) && edges.length === 0
      ? ["nobody is held under this key"]
      : []),
    ...(isOff ? [`taken off ${names} (${edges.length} held)`] : []),
    ...(waits.size > 0 ? [`${waiting} could not be told yet, and may refuse it until then`] : []),
    ...(holdOffUntil === undefined
      ? []
      : [`goes to no edge until ${iso(holdOffUntil)} (${relative(holdOffUntil)})`]),
    ...(unknown.length > 0 ? [`not known by these facts to ${unknown.map(printable).join(", ")}`] : []),
  ];
  return `${printable(client)}: ${said.join("; ")}.`;
}

/** How a fact that was missing is said on the command line. */
function flagFor(fact: string): string {
  const header = /^header:(.*)$/s.exec(fact)?.[1];
  if (header !== undefined) return `--header "${printable(header)}: <value>"`;
  return `--${printable(fact)} <${fact === "account" ? "name" : fact === "user" || fact === "customer" ? "id" : printable(fact)}>`;
}
