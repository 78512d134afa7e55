import type { DecisionAnswer, ExplainAnswer } from "../api/types.js";
import { printable } from "../printable.js";
import { type Cli, examples, type Flags, type Verbs } from "./cli.js";
import {
  heldFilter,
  isDecisionId,
  isDigest,
  type RequestFlags,
  requestFacts,
  withRequestOptions,
} from "./client-facts.js";
import { heldBy } from "./edge-offenders.js";
import { type ExitCode, exit, usageError } from "./exit.js";
import { heldTable, listedText, refusedWords, tellHeld } from "./held-text.js";
import { refusalText, requestWords } from "./refusal-text.js";
import { segment } from "./server-client.js";
import { table } from "./table.js";
import { relative } from "./times.js";

export const addWhy: Verbs = (program, act) => {
  withRequestOptions(
    program
      .command("why")
      .summary("say why a request was refused, or whether a client would pass now")
      .description(
        "Says in words what would be decided for this client now, rule by rule, free of charge, and where it is held at the edges. Of a refused request (its answer has the decision's id, in the body and as Tidegate-Decision) also when it was, who sent it and what decided. Ends with 1 when it would be refused now, here or at an edge.",
      )
      .argument(
        "<client-or-id>",
        "an address, customer:<id>, user:<id>, account:<name>, a digest as edges have it, or the id of a decision that refused",
      ),
  )
    .option("--decision", "it is a decision's id, whatever it looks like")
    .addHelpText(
      "after",
      examples(
        "tidegate why 203.0.113.7 --path /search",
        "tidegate why customer:42",
        "tidegate why 15v9k2m0x3q-1a",
      ),
    )
    .action(
      act(async (cli, flags: RequestFlags & Flags & { decision?: boolean }, given: string) =>
        flags.decision === true || isDecisionId(given)
          ? whyRefused(cli, given, flags)
          : isDigest(given)
            ? whyKey(cli, given)
            : whyClient(cli, given, flags),
      ),
    );
};

async function whyClient(cli: Cli, client: string, flags: RequestFlags): Promise<ExitCode> {
  const subject = requestFacts(client, flags);
  // Of an address alone that request is meant which it was last refused for.
  const isAddress = subject.ip !== undefined && Object.keys(subject).length === 1;
  const asked = { subject, ...(isAddress && { remembered: true }) };
  const explained = (await cli.admin().send("POST", "/v1/explain", asked)) as ExplainAnswer;
  if (cli.isJson) cli.printJson(explained);
  else await tellExplained(cli, explained);
  return passes(explained) ? exit.ok : exit.no;
}

/** How whoever stands under a key at the edges stands there: of a digest nothing else is known. */
async function whyKey(cli: Cli, key: string): Promise<ExitCode> {
  const held = await heldBy(cli, 500, heldFilter(key));
  if (cli.isJson) cli.printJson(held);
  else cli.print(held.length === 0 ? "Nobody is held under this key." : heldTable(held));
  return held.some(({ standing }) => standing.some(({ state }) => state === "held")) ? exit.no : exit.ok;
}

/** An edge in front may refuse what the server itself would let pass. */
function passes({ allowed, refusedAt }: ExplainAnswer): boolean {
  return allowed && (refusedAt ?? []).length === 0;
}

async function whyRefused(cli: Cli, id: string, flags: RequestFlags): Promise<ExitCode> {
  if (Object.keys(requestFacts(undefined, flags)).length > 0)
    throw usageError(
      "A decision was about a request of its own.",
      "Give its id alone; or the client, with the request you mean.",
    );
  const answer = (await cli.admin().get(`/v1/decisions/${segment(id)}`)) as DecisionAnswer;
  if (cli.isJson) cli.printJson(answer);
  else {
    cli.print(refusalText(answer));
    if (answer.now === null) cli.note("What would be decided now can not be told.");
    else {
      cli.print("\nNow:");
      await tellExplained(cli, answer.now);
    }
  }
  return answer.now !== null && passes(answer.now) ? exit.ok : exit.no;
}

async function tellExplained(cli: Cli, explained: ExplainAnswer): Promise<void> {
  const { asRefused } = explained;
  if (asRefused !== undefined)
    cli.print(`As its last refused request, ${relative(asRefused.at)}: ${requestWords(asRefused.about)}`);
  const refused = refusedWords(explained);
  if (refused !== undefined && explained.allowed)
    cli.print(cli.paint("red", `${refused}; Tidegate itself would let it pass.`));
  else cli.print(cli.paint(explained.allowed ? "green" : "red", printable(explained.words)));
  if (refused !== undefined && !explained.allowed) cli.print(`${refused} too.`);
  const listed = listedText(explained);
  if (listed !== undefined) cli.print(listed);
  if (explained.rules.length > 0) cli.print(`\n${rulesTable(explained)}`);
  await tellHeld(cli, explained);
}

function rulesTable({ rules }: ExplainAnswer): string {
  return table(
    [
      { title: "RULE", of: ({ rule }) => rule },
      { title: "APPLIES", of: ({ applies }) => (applies ? "yes" : "no") },
      { title: "WHY", of: ({ words }) => words },
    ],
    rules,
  );
}
