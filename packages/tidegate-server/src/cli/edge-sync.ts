import type { Command } from "commander";
import type { EdgeSyncAnswer } from "../api/types.js";
import type { SyncReport } from "../control-desk.js";
import { printable } from "../printable.js";
import { type Acting, examples, type Flags } from "./cli.js";
import { exit } from "./exit.js";
import { segment } from "./server-client.js";
import { relative } from "./times.js";

export function addEdgeSync(edge: Command, act: Acting): void {
  edge
    .command("sync")
    .description(
      "Reads an edge, or all, and sets right now what is not as it should be; with --dry-run only says what that would be. Ends with 1 when one could not be set right.",
    )
    .argument("[edge]", "its name in tidegate.yaml (all)")
    .option("--dry-run", "change nothing")
    .addHelpText("after", examples("tidegate edge sync --dry-run", "tidegate edge sync cdn"))
    .action(
      act(async (cli, { dryRun = false }: Flags & { dryRun?: boolean }, name: string | undefined) => {
        const path = name === undefined ? "/v1/edges/sync" : `/v1/edges/${segment(name)}/sync`;
        const { reports } = (await cli.admin().send("POST", path, { dryRun })) as EdgeSyncAnswer;
        if (cli.isJson) cli.printJson(reports);
        else if (reports.length === 0) cli.print("No edge is configured.");
        else for (const report of reports) cli.print(reportText(report));
        return reports.every(({ problem }) => problem === undefined) ? exit.ok : exit.no;
      }),
    );
}

/** A plan is read by people as far as they like. */
const mostShown = 20;

function reportText({ edge, put, remove, isDryRun, problem }: SyncReport): string {
  const name = printable(edge);
  if (problem !== undefined) return `${name}: ${printable(problem)}`;
  if (put.length + remove.length === 0) return `${name}: as it should be.`;
  const verb = isDryRun ? "would be " : "";
  const lines = [
    ...remove.map((key) => `  - ${printable(key)}`),
    ...put.map(
      ({ key, until, rule }) => `  + ${printable(key)}  ${printable(rule)}, ends ${relative(until)}`,
    ),
  ];
  const further =
    lines.length > mostShown ? [`  … and ${lines.length - mostShown} more (--json has all)`] : [];
  return [
    `${name}: ${put.length} ${verb}put, ${remove.length} ${verb}removed.`,
    ...lines.slice(0, mostShown),
    ...further,
  ].join("\n");
}
