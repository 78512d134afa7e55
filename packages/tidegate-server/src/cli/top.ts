import type { BusyKey } from "tidegate";
import { examples, type Flags, type Verbs, wholeNumber } from "./cli.js";
import { listed } from "./pages.js";
import { query } from "./server-client.js";
import { topText } from "./top-text.js";

interface TopFlags extends Flags {
  readonly most: number;
  readonly once?: boolean;
  readonly every: number;
}

export const addTop: Verbs = (program, act) => {
  program
    .command("top")
    .summary("what goes on now, and who is busiest")
    .description(
      "On a terminal, live until q is pressed: what is allowed and refused each second, rule by rule, the busiest clients, who is held, the edges and the store. Otherwise, with --once and with --json, the busiest clients once. A client's requests fade: one counts half as much after five minutes.",
    )
    .option("--most <count>", "of the busiest clients; live at most 20 are told", wholeNumber(1000), 20)
    .option("--every <seconds>", "between two questions while there are no live events", wholeNumber(3600), 2)
    .option("--once", "show the busiest clients once")
    .addHelpText("after", examples("tidegate top", "tidegate top --most 5 --json"))
    .action(
      act(async (cli, { most, once, every }: TopFlags) => {
        const { stdout, env } = cli.io;
        if (!cli.isJson && once !== true && stdout.isTTY && env.TERM !== "dumb") {
          const { watchTop } = await import("./watch-top.js");
          await watchTop(cli, { most, everyMs: every * 1000 });
          return undefined;
        }
        const busiest = listed<BusyKey>(await cli.admin().get(`/v1/busiest${query({ most })}`), "clients");
        return cli.isJson ? cli.printJson(busiest) : cli.print(topText(busiest));
      }),
    );
};
