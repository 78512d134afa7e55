import type { Command } from "commander";
import type { EdgeSyncAnswer } from "../api/types.js";
import type { SyncReport } from "../control-desk.js";
import { printable } from "../printable.js";
import { type Acting, examples, type Flags } from "./cli.js";
import { exit } from "./exit.js";
import { segment } from "./server-client.js";
import { relative } from "./times.js";
import { refuseUntoldEdges } from "./untold-edges.js";

export function addEdgeSync(edge: Command, act: Acting): void {
  edge
    .command("sync")
    .description(
      "Reads an edge, or all, and sets right now what is not as it should be; with --dry-run only says what that would be. Straight on Redis (--redis, --config) a dry run reads the edges itself; what is to be set right is left to whoever keeps the edge. Ends with 1 when one could not be set right, or nobody keeps it.",
    )
    .argument("[edge]", "its name in tidegate.yaml (all)")
    .option("--dry-run", "change nothing")
    .addHelpText(
      "after",
      examples(
        "tidegate edge sync --dry-run",
        "tidegate edge sync cdn",
        "tidegate edge sync --dry-run --redis redis://10.0.0.5 --config tidegate.yaml",
      ),
    )
    .action(
      act(async (cli, flags: Flags & { dryRun?: boolean }, name: string | undefined) => {
        const { dryRun = false } = flags;
        await refuseUntoldEdges(cli, flags);
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

function reportText({ edge, put, remove, isDryRun, keeper, problem }: SyncReport): string {
  const name = printable(edge);
  const kept = keeper === undefined ? "" : ` ${printable(keeper)} keeps it.`;
  if (problem !== undefined)
    return `${name}: ${printable(problem)}${isDryRun && kept !== "" ? `.${kept}` : ""}`;
  if (keeper !== undefined && !isDryRun)
    return `${name}: ${printable(keeper)} keeps it, and sets it right at its next look.`;
  if (put.length + remove.length === 0) return `${name}: as it should be.${kept}`;
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
    `${name}: ${put.length} ${verb}put, ${remove.length} ${verb}removed.${kept}`,
    ...lines.slice(0, mostShown),
    ...further,
  ].join("\n");
}
