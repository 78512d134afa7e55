import type { Command } from "commander";
import type { EdgesAnswer } from "../api/types.js";
import type { EdgeStatus } from "../control-desk.js";
import { printable } from "../printable.js";
import { type Acting, examples, type Flags } from "./cli.js";
import { exit } from "./exit.js";
import { counted, table } from "./table.js";
import { relative, span } from "./times.js";
import { refuseUntoldEdges } from "./untold-edges.js";

export function addEdgeStatus(edge: Command, act: Acting): void {
  edge
    .command("status")
    .description(
      "How each edge is: its mode, whether it has all it is to have, and what to look at. Ends with 1 when one is behind, out of reach, kept by nobody, set up wrongly, or has an alarm.",
    )
    .addHelpText("after", examples("tidegate edge status", "tidegate edge status --json"))
    .action(
      act(async (cli, flags: Flags) => {
        await refuseUntoldEdges(cli, flags);
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

function isWell({ state, alarms }: EdgeStatus): boolean {
  return state === "in step" && alarms.length === 0;
}

/** Only what does not answer is out of reach. */
function stateOf({ state, readAt, problem }: EdgeStatus): string {
  if (state !== undefined) return state;
  if (problem?.code === "TG_EDGE_SETUP") return "set up wrongly";
  if (problem?.code === "TG_EDGE_DENIED") return "denied";
  return readAt === undefined && problem === undefined ? "not read yet" : "out of reach";
}

function statusTable(edges: readonly EdgeStatus[]): string {
  return table(
    [
      { title: "EDGE", of: ({ edge }) => edge },
      { title: "KIND", of: ({ kind }) => kind },
      {
        title: "MODE",
        of: ({ mode, stopped }) => (stopped === undefined ? mode : `${mode}, new ones withheld`),
      },
      {
        title: "STATE",
        of: stateOf,
      },
      {
        title: "ENTRIES",
        of: ({ entries, maxEntries }) => `${entries ?? "?"}/${maxEntries || "?"}`,
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
  foreign = 0,
  quarantined,
}: EdgeStatus): string[] {
  const why = setBy?.why === undefined ? "" : ` (${setBy.why})`;
  const said = [
    ...(setBy === undefined ? [] : [`set by ${setBy.who}${why} ${relative(setBy.at)}`]),
    ...(stopped === undefined ? [] : [`new entries are withheld: ${stopped}`]),
    ...alarms.map((alarm) => `alarm: ${alarm}`),
    ...(problem === undefined ? [] : [`last failed ${relative(problem.at)}: ${problem.message}`]),
    ...(propagationMs === undefined ? [] : [`the last change took ${span(propagationMs)} to arrive`]),
    ...(foreign > 0 ? [`${counted(foreign, "entry", "entries")} of others, left alone`] : []),
    ...(drift > 0 ? [`wrong at the last look, and set right: ${counted(drift, "entry", "entries")}`] : []),
    ...(evicted > 0 ? [`no room for ${counted(evicted, "held client")}`] : []),
    ...(unknowable > 0 ? [`can not know ${counted(unknowable, "held client")}`] : []),
    ...quarantined.map(({ key, why }) => `does not take ${key}: ${why}`),
  ];
  return said.map((words) => printable(`${edge}: ${words}`));
}
