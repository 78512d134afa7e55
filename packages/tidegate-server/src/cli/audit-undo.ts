import type { AuditLine, UndoAnswer } from "../api/types.js";
import { printable } from "../printable.js";
import { type Cli, examples, type Flags, type Verbs } from "./cli.js";
import { CliError, exit, usageError } from "./exit.js";
import { listed } from "./pages.js";
import { query } from "./server-client.js";

interface UndoFlags extends Flags {
  readonly why?: string;
  readonly force?: boolean;
}

export const addAuditUndo: Verbs = (audit, act) => {
  audit
    .command("undo")
    .summary("take a change back")
    .description(
      "Takes a change back: of a list, of a customer's tier or limits, of the policy, of an edge's mode. Asks first. The undo is a change too, and can be undone.",
    )
    .argument("<id>", "of the entry, as `tidegate audit` shows it")
    .option("--why <words>", "the reason, for whoever finds it")
    .option("--force", "even if it has changed again since")
    .option("--yes", "do not ask")
    .addHelpText("after", examples('tidegate audit undo 41 --why "a slip"'))
    .action(
      act(async (cli, { why, force }: UndoFlags, text: string) => {
        const id = idOf(text);
        await cli.confirm(`Undo ${words(await entryOf(cli, id))}?`);
        const said = (await cli.admin().send("POST", `/v1/audit/${id}/undo`, {
          ...(why !== undefined && { why }),
          ...(force === true && { force: true }),
        })) as UndoAnswer;
        if (cli.isJson) return cli.printJson(said);
        const by = said.entry === undefined ? "" : `, by entry ${said.entry.id}`;
        return cli.print(`Entry ${said.undone} is undone${by}.`);
      }),
    );
};

function idOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw usageError(
    `${JSON.stringify(text)} is not the number of an entry.`,
    "`tidegate audit` shows them under ID.",
  );
}

async function entryOf(cli: Cli, id: number): Promise<AuditLine> {
  const said = await cli.admin().get(`/v1/audit${query({ most: 1, before: id + 1 })}`);
  const [entry] = listed<AuditLine>(said, "entries");
  if (entry?.id === id) return entry;
  throw new CliError(
    exit.declined,
    `There is no entry ${id}.`,
    "`tidegate audit` shows those that are kept.",
  );
}

/** `blocklist.add of 203.0.113.7 by ann`. */
function words({ what, target, who }: AuditLine): string {
  return printable(`${what}${target === undefined ? "" : ` of ${target}`} by ${who}`);
}
