import { Option } from "commander";
import { auditFormats } from "../api/audit/export.js";
import type { AuditAnswer, AuditLine } from "../api/types.js";
import { addAuditUndo } from "./audit-undo.js";
import { type Cli, examples, type Flags, type Verbs, wholeNumber } from "./cli.js";
import { momentOf } from "./moment.js";
import { listed } from "./pages.js";
import { query } from "./server-client.js";
import { table } from "./table.js";
import { relative } from "./times.js";

interface AuditFlags extends Flags {
  readonly most?: number;
  readonly who?: string;
  readonly what?: string;
  readonly target?: string;
  readonly since?: string;
  readonly until?: string;
  readonly export?: "ndjson" | "csv";
}

const usualMost = 50;
const aPage = 500;

export const addAudit: Verbs = (program, act) => {
  const audit = program
    .command("audit")
    .summary("who changed what, and taking it back")
    .description("What people and programs changed, newest first.")
    .option("--most <count>", `how many (${usualMost}; exported: all)`, wholeNumber(100_000))
    .option("--who <name>", "only what they did")
    .option("--what <act>", "only what was done so, or begins so: blocklist, policy.rollback")
    .option("--target <name>", "only what was done to this: an address, a customer, an edge")
    .option("--since <time>", "not longer ago than 2h, 7d, or since 2026-01-31")
    .option("--until <time>", "the same, for the other end")
    .addOption(
      new Option("--export <format>", "all that match, for other programs").choices(["ndjson", "csv"]),
    )
    .addHelpText(
      "after",
      examples(
        "tidegate audit --what blocklist --since 2d",
        "tidegate audit --export csv > audit.csv",
        "tidegate audit undo 41",
      ),
    )
    .action(
      act(async (cli, { export: format, ...flags }: AuditFlags) => {
        const search = searchOf(flags);
        if (format !== undefined) return exported(cli, format, search, flags.most);
        const entries: AuditLine[] = [];
        for await (const page of found(cli, search, flags.most ?? usualMost)) entries.push(...page);
        if (cli.isJson) return cli.printJson(entries);
        if (entries.length > 0) return cli.print(auditTable(entries));
        return cli.print(
          Object.values(search).some((term) => term !== undefined)
            ? "Nothing like that is in the audit."
            : "Nothing was changed yet.",
        );
      }),
    );
  addAuditUndo(audit, act);
};

type Search = Readonly<Record<"who" | "what" | "target" | "since" | "until", string | number | undefined>>;

function searchOf({ who, what, target, since, until }: AuditFlags): Search {
  return { who, what, target, since: momentOf("--since", since), until: momentOf("--until", until) };
}

/** Page after page, until there are no more or enough. */
async function* found(cli: Cli, search: Search, most: number): AsyncGenerator<readonly AuditLine[]> {
  const admin = cli.admin();
  let left = most;
  let before: number | undefined;
  do {
    const ask = query({ ...search, most: Math.min(aPage, left), before });
    const said = await admin.get(`/v1/audit${ask}`);
    const entries = listed<AuditLine>(said, "entries");
    yield entries;
    left -= entries.length;
    before = (said as AuditAnswer | undefined)?.next;
  } while (before !== undefined && left > 0);
}

async function exported(
  cli: Cli,
  format: "ndjson" | "csv",
  search: Search,
  most: number = Number.MAX_SAFE_INTEGER,
): Promise<undefined> {
  const { head, line } = auditFormats[format];
  cli.io.stdout.write(head);
  for await (const page of found(cli, search, most)) cli.io.stdout.write(page.map(line).join(""));
}

function auditTable(entries: readonly AuditLine[]): string {
  return table(
    [
      { title: "ID", of: ({ id }) => id },
      { title: "UNDO", of: undoWords },
      { title: "WHEN", of: ({ at }) => relative(at) },
      { title: "WHO", of: ({ who }) => who },
      { title: "WHAT", of: ({ what }) => what },
      { title: "TARGET", of: ({ target }) => target },
      { title: "WHY", of: ({ why }) => why },
    ],
    entries,
  );
}

function undoWords({ undoes, undoneBy, undoable }: AuditLine): string | undefined {
  if (undoneBy !== undefined) return `undone by ${undoneBy}`;
  if (undoes !== undefined) return `undoes ${undoes}`;
  return undoable ? "can be" : undefined;
}
