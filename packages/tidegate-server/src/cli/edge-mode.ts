import type { Command } from "commander";
import type { EdgeModeAnswer } from "../api/types.js";
import type { EdgeStatus } from "../control-desk.js";
import type { EdgeMode } from "../edge.js";
import { printable } from "../printable.js";
import { type Acting, examples, type Flags } from "./cli.js";
import { exit } from "./exit.js";
import { segment } from "./server-client.js";
import { refuseUntoldEdges } from "./untold-edges.js";

const modes: readonly {
  readonly mode: EdgeMode;
  readonly does: string;
  readonly now: string;
  readonly why: string;
}[] = [
  { mode: "on", does: "refuses who is held", now: "refuses who is held", why: "attack again" },
  {
    mode: "off",
    does: "refuses nobody; its entries stay",
    now: "refuses nobody, and keeps its entries",
    why: "customers complain",
  },
  {
    mode: "shadow",
    does: "lets everybody pass and marks whom it would refuse; its entries stay",
    now: "lets everybody pass, and marks whom it would refuse",
    why: "trying it out",
  },
];

/** What an edge goes on doing until it is told. */
const still: Readonly<Record<EdgeMode, string>> = {
  on: "it still refuses who is held",
  shadow: "it still lets everybody pass, and marks whom it would refuse",
  off: "it still refuses nobody",
};

function notYet({ edge, mode, standsAt, state, keeper, problem }: EdgeStatus): string {
  const until = standsAt === undefined ? "it goes on as it was" : still[standsAt];
  const failure = problem === undefined ? "" : ` (last failure: ${problem.message})`;
  if (state === "nobody keeps it")
    return `${edge} will be ${mode} as soon as a server that has it in its file runs: nobody keeps it now; until then ${until}.`;
  if (state === undefined)
    return `${edge} will be ${mode} as soon as it is reached; until then ${until}${failure}.`;
  return `${edge} will be ${mode} as soon as ${keeper ?? "whoever keeps it"} has told it; until then ${until}${failure}.`;
}

export function addEdgeModes(edge: Command, act: Acting): void {
  for (const { mode, does, now, why: reason } of modes)
    edge
      .command(mode)
      .description(
        `From now on this edge ${does}. It stays so, whoever keeps it and whatever restarts. Ends with 1 when the edge could not be told yet; it is as soon as it is reached.`,
      )
      .argument("<edge>", "its name in tidegate.yaml")
      .option("--why <words>", "the reason, for the audit")
      .addHelpText("after", examples(`tidegate edge ${mode} cdn --why "${reason}"`))
      .action(
        act(async (cli, flags: Flags & { why?: string }, name: string) => {
          const { why } = flags;
          await refuseUntoldEdges(cli, flags);
          const path = `/v1/edges/${segment(name)}/mode`;
          const body = { mode, ...(why !== undefined && { why }) };
          const answer = (await cli.admin().send("POST", path, body)) as EdgeModeAnswer;
          const { applied } = answer.edge;
          if (cli.isJson) cli.printJson(answer.edge);
          else if (applied) cli.print(`${printable(answer.edge.edge)} is ${mode}: it ${now}.`);
          else cli.print(printable(notYet(answer.edge)));
          return applied ? exit.ok : exit.no;
        }),
      );
}
