import type { Command } from "commander";
import type { EdgesAnswer } from "../api/types.js";
import type { EdgeStatus } from "../control-desk.js";
import { printable } from "../printable.js";
import { type Acting, examples, type Flags } from "./cli.js";
import { exit } from "./exit.js";
import { table } from "./table.js";
import { relative, span } from "./times.js";

export function addEdgeStatus(edge: Command, act: Acting): void {
  edge
    .command("status")
    .description(
      "How each edge is: its mode, whether it has all it is to have, and what to look at. Ends with 1 when one is behind, out of reach, looked after by nobody, or has an alarm.",
    )
    .addHelpText("after", examples("tidegate edge status", "tidegate edge status --json"))
    .action(
      act(async (cli, _flags: Flags) => {
        const { edges } = (await cli.admin().get("/v1/edges")) as EdgesAnswer;
        if (cli.isJson) cli.printJson(edges);
        else if (edges.length === 0) cli.print("No edge is configured.");
        else {
          cli.print(statusTable(edges));
          for (const line of edges.flatMap(remarks)) cli.print(line);
        }
        return edges.every(isWell) ? exit.ok : exit.no;
      }),
    );
}

/** Longer than any control waits between two looks: whoever kept the edge is gone. */
const forsakenMs = 15 * 60_000;

function isForsaken({ readAt }: EdgeStatus): boolean {
  return readAt !== undefined && Date.now() - readAt > forsakenMs;
}

function isWell(status: EdgeStatus): boolean {
  return status.state === "in step" && status.alarms.length === 0 && !isForsaken(status);
}

function statusTable(edges: readonly EdgeStatus[]): string {
  return table(
    [
      { title: "EDGE", of: ({ edge }) => edge },
      { title: "KIND", of: ({ kind }) => kind },
      {
        title: "MODE",
        of: ({ mode, stopped }) => (stopped === undefined ? mode : `${mode}, stopped in shadow`),
      },
      {
        title: "STATE",
        of: (status) => (isForsaken(status) ? "nobody looks" : (status.state ?? "out of reach")),
      },
      {
        title: "ENTRIES",
        of: ({ entries, maxEntries }) => `${entries ?? "?"}/${maxEntries}`,
        isNumber: true,
      },
      { title: "PENDING", of: ({ pending }) => pending, isNumber: true },
      { title: "APPLIED (P99)", of: ({ applyMs }) => applyMs && span(applyMs.p99), isNumber: true },
      { title: "READ", of: ({ readAt }) => readAt && relative(readAt) },
      { title: "KEEPER", of: ({ keeper }) => keeper },
    ],
    edges,
  );
}

/** What does not fit into a row, each in a line of its own. */
function remarks({
  edge,
  stopped,
  setBy,
  alarms,
  problem,
  propagationMs,
  drift = 0,
  evicted,
  unknowable,
  quarantined,
}: EdgeStatus): string[] {
  const why = setBy?.why === undefined ? "" : ` (${setBy.why})`;
  const said = [
    ...(setBy === undefined ? [] : [`set by ${setBy.who}${why} ${relative(setBy.at)}`]),
    ...(stopped === undefined ? [] : [`stopped in shadow: ${stopped}`]),
    ...alarms.map((alarm) => `alarm: ${alarm}`),
    ...(problem === undefined ? [] : [`last failed ${relative(problem.at)}: ${problem.message}`]),
    ...(propagationMs === undefined ? [] : [`the last change took ${span(propagationMs)} to arrive`]),
    ...(drift > 0 ? [`${drift} entries were wrong at the last look, and set right`] : []),
    ...(evicted > 0 ? [`${evicted} held clients do not fit`] : []),
    ...(unknowable > 0 ? [`${unknowable} held clients it can not know`] : []),
    ...quarantined.map(({ key, why }) => `does not take ${key}: ${why}`),
  ];
  return said.map((words) => printable(`${edge}: ${words}`));
}
