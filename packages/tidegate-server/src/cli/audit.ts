import type { AuditEntry } from "../data.js";
import { examples, type Flags, type Verbs, wholeNumber } from "./cli.js";
import { pages } from "./pages.js";
import { query } from "./server-client.js";
import { table } from "./table.js";
import { relative } from "./times.js";

export const addAudit: Verbs = (program, act) => {
  program
    .command("audit")
    .summary("who changed what")
    .description("What people and programs changed, newest first.")
    .option("--most <count>", "how many", wholeNumber(100_000), 50)
    .addHelpText("after", examples("tidegate audit --most 10", "tidegate audit --json"))
    .action(
      act(async (cli, { most }: Flags & { most: number }) => {
        const admin = cli.admin();
        const entries = await pages<AuditEntry>("entries", most, (count, last) =>
          admin.get(`/v1/audit${query({ most: count, before: last?.id })}`),
        );
        if (cli.isJson) return cli.printJson(entries);
        if (entries.length === 0) return cli.print("Nothing was changed yet.");
        cli.print(
          table(
            [
              { title: "WHEN", of: ({ at }) => relative(at) },
              { title: "WHO", of: ({ who }) => who },
              { title: "WHAT", of: ({ what }) => what },
              { title: "TARGET", of: ({ target }) => target },
              { title: "WHY", of: ({ why }) => why },
            ],
            entries,
          ),
        );
      }),
    );
};
