import type { Command } from "commander";
import type { HeldClient, OffendersAnswer } from "../api/types.js";
import { type Acting, type Cli, examples, type Flags, wholeNumber } from "./cli.js";
import { type HeldFilter, heldFilter } from "./client-facts.js";
import { heldTable } from "./held-text.js";
import { query } from "./server-client.js";

export function addEdgeOffenders(edge: Command, act: Acting): void {
  edge
    .command("offenders")
    .description("Who is held now, worst first, and how each stands at every edge.")
    .argument("[client]", "an address, a block or a digest of one client (all)")
    .option("--most <count>", "how many", wholeNumber(1_000_000), 50)
    .addHelpText(
      "after",
      examples("tidegate edge offenders --most 10", "tidegate edge offenders 203.0.113.7"),
    )
    .action(
      act(async (cli, { most }: Flags & { most: number }, client: string | undefined) => {
        const offenders = await heldBy(cli, most, client === undefined ? {} : heldFilter(client));
        if (cli.isJson) cli.printJson(offenders);
        else cli.print(offenders.length === 0 ? "Nobody is held." : heldTable(offenders));
      }),
    );
}

/** Of all, or of those a filter leaves. */
export async function heldBy(cli: Cli, most: number, filter: HeldFilter): Promise<HeldClient[]> {
  const admin = cli.admin();
  const all: HeldClient[] = [];
  let after: string | undefined;
  do {
    const count = Math.min(500, most - all.length);
    const page = (await admin.get(
      `/v1/offenders${query({ most: count, after, ...filter })}`,
    )) as OffendersAnswer;
    all.push(...page.offenders);
    after = page.next;
  } while (after !== undefined && all.length < most);
  return all;
}
