import type { Command } from "commander";
import type { HeldClient, OffendersAnswer } from "../api/types.js";
import { type Acting, type Cli, examples, type Flags, wholeNumber } from "./cli.js";
import { heldTable } from "./held-text.js";
import { query } from "./server-client.js";

export function addEdgeOffenders(edge: Command, act: Acting): void {
  edge
    .command("offenders")
    .description("Who is held at the edges now, worst first.")
    .argument("[address]", "of one client (all)")
    .option("--most <count>", "how many", wholeNumber(1_000_000), 50)
    .addHelpText(
      "after",
      examples("tidegate edge offenders --most 10", "tidegate edge offenders 203.0.113.7"),
    )
    .action(
      act(async (cli, { most }: Flags & { most: number }, ip: string | undefined) => {
        const offenders = await held(cli, most, ip);
        if (cli.isJson) cli.printJson(offenders);
        else cli.print(offenders.length === 0 ? "Nobody is held." : heldTable(offenders));
      }),
    );
}

async function held(cli: Cli, most: number, ip: string | undefined): Promise<HeldClient[]> {
  const admin = cli.admin();
  const all: HeldClient[] = [];
  let after: string | undefined;
  do {
    const count = Math.min(500, most - all.length);
    const page = (await admin.get(`/v1/offenders${query({ most: count, after, ip })}`)) as OffendersAnswer;
    all.push(...page.offenders);
    after = page.next;
  } while (after !== undefined && all.length < most);
  return all;
}
