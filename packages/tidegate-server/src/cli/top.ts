import { setTimeout as sleep } from "node:timers/promises";
import type { BusyKey } from "tidegate";
import { type Cli, examples, type Flags, type Verbs, wholeNumber } from "./cli.js";
import { listed } from "./pages.js";
import { query } from "./server-client.js";
import { table } from "./table.js";

interface TopFlags extends Flags {
  readonly most: number;
  readonly once?: boolean;
  readonly every: number;
}

const clearScreen = "\u001b[H\u001b[2J";

export const addTop: Verbs = (program, act) => {
  program
    .command("top")
    .summary("who is busiest now")
    .description(
      "The busiest clients lately: a request counts half as much after five minutes, so numbers fade. On a terminal it is drawn again until Ctrl-C; otherwise, with --once and with --json it is shown once.",
    )
    .option("--most <count>", "how many", wholeNumber(1000), 20)
    .option("--every <seconds>", "between two looks", wholeNumber(3600), 2)
    .option("--once", "show it once")
    .addHelpText("after", examples("tidegate top", "tidegate top --most 5 --json"))
    .action(
      act(async (cli, { most, once, every }: TopFlags) => {
        const admin = cli.admin();
        const look = async (): Promise<BusyKey[]> =>
          listed<BusyKey>(await admin.get(`/v1/busiest${query({ most })}`), "clients");
        if (cli.isJson) return cli.printJson(await look());
        if (once === true || !cli.io.stdout.isTTY) return cli.print(topText(await look()));
        await watch(cli, look, every * 1000);
      }),
    );
};

async function watch(cli: Cli, look: () => Promise<BusyKey[]>, everyMs: number): Promise<void> {
  const signal = cli.io.interrupted;
  while (!signal.aborted) {
    const lines = topText(await look())
      .split("\n")
      .slice(0, (cli.io.stdout.rows ?? 24) - 1);
    cli.print(`${clearScreen}${lines.join("\n")}`);
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
}

function topText(busiest: readonly BusyKey[]): string {
  if (busiest.length === 0) return "Nobody came lately.";
  const rows = table(
    [
      { title: "CLIENT", of: ({ key }) => key },
      {
        title: "REQUESTS",
        of: ({ count, error }) => between(Math.round(count - error), Math.round(count)),
        isNumber: true,
      },
      { title: "REFUSED", of: ({ refused }) => Math.round(refused), isNumber: true },
    ],
    busiest,
  );
  return `${rows}Lately: a request counts half as much after five minutes.\n`;
}

function between(least: number, most: number): string {
  return least === most ? `${most}` : `${least}-${most}`;
}
