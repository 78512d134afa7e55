import type { ExplainAnswer } from "../api/types.js";
import { printable } from "../printable.js";
import { examples, type Flags, type Verbs } from "./cli.js";
import { type RequestFlags, requestFacts, withRequestOptions } from "./client-facts.js";
import { exit } from "./exit.js";
import { listedText, tellHeld } from "./held-text.js";
import { table } from "./table.js";

export const addWhy: Verbs = (program, act) => {
  withRequestOptions(
    program
      .command("why")
      .summary("say whether a client would pass now, and why")
      .description(
        "Says in words what would be decided for this client now, rule by rule, free of charge, and where it is held at the edges. Ends with 1 when it would be refused. Decisions can not be looked up by their id yet.",
      )
      .argument("<client>", "an address, customer:<id>, user:<id> or account:<name>"),
  )
    .addHelpText("after", examples("tidegate why 203.0.113.7 --path /search", "tidegate why customer:42"))
    .action(
      act(async (cli, flags: RequestFlags & Flags, client: string) => {
        const subject = requestFacts(client, flags);
        const explained = (await cli.admin().send("POST", "/v1/explain", { subject })) as ExplainAnswer;
        if (cli.isJson) cli.printJson(explained);
        else {
          cli.print(cli.paint(explained.allowed ? "green" : "red", printable(explained.words)));
          const listed = listedText(explained);
          if (listed !== undefined) cli.print(listed);
          if (explained.rules.length > 0) cli.print(`\n${rulesTable(explained)}`);
          await tellHeld(cli, explained);
        }
        return explained.allowed ? exit.ok : exit.no;
      }),
    );
};

function rulesTable({ rules }: ExplainAnswer): string {
  return table(
    [
      { title: "RULE", of: ({ rule }) => rule },
      { title: "APPLIES", of: ({ applies }) => (applies ? "yes" : "no") },
      { title: "WHY", of: ({ words }) => words },
    ],
    rules,
  );
}
