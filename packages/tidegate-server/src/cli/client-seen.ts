import type { Command } from "commander";
import type { ClientLine, ClientsAnswer } from "../api/types.js";
import { type Acting, examples, type Flags, wholeNumber } from "./cli.js";
import { heldFilter } from "./client-facts.js";
import { query } from "./server-client.js";
import { table } from "./table.js";
import { relative } from "./times.js";

export function addClientSeen(client: Command, act: Acting): void {
  client
    .command("seen")
    .description(
      "Who came lately: in all, within a block, or whom a rule refused under a digest; the busiest first.",
    )
    .argument("[client]", "an address, a block or a digest (all)")
    .option("--most <count>", "how many", wholeNumber(1000), 50)
    .addHelpText("after", examples("tidegate client seen 203.0.113.0/24"))
    .action(
      act(async (cli, { most }: Flags & { most: number }, given: string | undefined) => {
        const { ip: within, key } = given === undefined ? {} : heldFilter(given);
        const answer = (await cli.admin().get(`/v1/clients${query({ within, key, most })}`)) as ClientsAnswer;
        if (cli.isJson) return cli.printJson(answer);
        cli.print(seenText(answer));
      }),
    );
}

/** Clients as a table, and how many there are beside. */
export function seenText({ clients, count }: ClientsAnswer): string {
  if (clients.length === 0) return "Nobody that is known by name.";
  const more = count - clients.length;
  return `${seenTable(clients)}${more > 0 ? `\nAnd ${more} more.` : ""}`;
}

function seenTable(clients: readonly ClientLine[]): string {
  return table<ClientLine>(
    [
      { title: "CLIENT", of: ({ client }) => client },
      { title: "REQUESTS", of: ({ requests }) => (requests === 0 ? "few" : String(requests)) },
      { title: "REFUSED", of: ({ refused }) => String(refused) },
      { title: "LAST REFUSED", of: ({ refusedAt }) => refusedAt && relative(refusedAt) },
      { title: "NOW", of: ({ allowed }) => (allowed === null ? undefined : allowed ? "passes" : "refused") },
      { title: "HELD UNTIL", of: ({ heldUntil }) => heldUntil && relative(heldUntil) },
      { title: "USER AGENT", of: ({ userAgent }) => userAgent },
    ],
    clients,
  );
}
