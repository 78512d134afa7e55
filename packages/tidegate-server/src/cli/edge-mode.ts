import type { Command } from "commander";
import type { EdgeModeAnswer } from "../api/types.js";
import type { EdgeMode } from "../edge.js";
import { printable } from "../printable.js";
import { type Acting, examples, type Flags } from "./cli.js";
import { segment } from "./server-client.js";

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

export function addEdgeModes(edge: Command, act: Acting): void {
  for (const { mode, does, now, why: reason } of modes)
    edge
      .command(mode)
      .description(`From now on this edge ${does}. It stays so, whoever keeps it and whatever restarts.`)
      .argument("<edge>", "its name in tidegate.yaml")
      .option("--why <words>", "the reason, for the audit")
      .addHelpText("after", examples(`tidegate edge ${mode} cdn --why "${reason}"`))
      .action(
        act(async (cli, { why }: Flags & { why?: string }, name: string) => {
          const path = `/v1/edges/${segment(name)}/mode`;
          const body = { mode, ...(why !== undefined && { why }) };
          const answer = (await cli.admin().send("POST", path, body)) as EdgeModeAnswer;
          if (cli.isJson) return cli.printJson(answer.edge);
          cli.print(`${printable(answer.edge.edge)} is ${mode}: it ${now}.`);
          const { stopped } = answer.edge;
          if (stopped !== undefined) cli.note(`But it stands in shadow: ${printable(stopped)}`);
        }),
      );
}
