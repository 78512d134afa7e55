import { Option } from "commander";
import type { LoginCodeAnswer, TokenCreatedAnswer, TokenRevokedAnswer, TokensAnswer } from "../api/types.js";
import { type NamedToken, roles } from "../data.js";
import { printable } from "../printable.js";
import { adminUrl, examples, type Flags, type Verbs } from "./cli.js";
import { segment } from "./server-client.js";
import { table } from "./table.js";
import { relative } from "./times.js";

interface CreateFlags extends Flags {
  readonly role: string;
  readonly name: string;
  readonly for?: string;
}

export const addToken: Verbs = (program, act) => {
  const token = program
    .command("token")
    .summary("who may ask, and what they may")
    .description(
      "Tokens for people and programs. A viewer looks; an operator changes lists and customers, and clears clients; an admin changes " +
        "the policy, edges and tokens. Once there is one, everybody needs one.",
    )
    .addHelpText("after", examples("tidegate token create --role admin --name ann", "tidegate token list"));

  token
    .command("create")
    .description("Makes a token and prints it: it is told this once, and kept nowhere.")
    .addOption(new Option("--role <role>", "what it may").choices(roles).makeOptionMandatory())
    .requiredOption("--name <name>", "whose it is: the audit knows them by it")
    .option("--for <duration>", "12h, 30d (until it is revoked)")
    .addHelpText("after", examples("tidegate token create --role operator --name ann --for 30d"))
    .action(
      act(async (cli, { role, name, for: duration }: CreateFlags) => {
        const body = { role, name, ...(duration !== undefined && { for: duration }) };
        const made = (await cli.admin().send("POST", "/v1/tokens", body)) as TokenCreatedAnswer;
        if (cli.isJson) return cli.printJson(made);
        cli.print(printable(made.secret));
        cli.note(`${words(made.token)}. It is shown this once: keep it, e.g. in TIDEGATE_TOKEN.`);
      }),
    );

  token
    .command("list")
    .description("Which there are, and when they were last used. What they are is kept nowhere.")
    .addHelpText("after", examples("tidegate token list --json"))
    .action(
      act(async (cli) => {
        const { tokens } = (await cli.admin().get("/v1/tokens")) as TokensAnswer;
        if (cli.isJson) return cli.printJson(tokens);
        if (tokens.length === 0) return cli.print("Nobody made a token yet.");
        cli.print(
          table<NamedToken>(
            [
              { title: "NAME", of: ({ name }) => name },
              { title: "ROLE", of: ({ role }) => role },
              { title: "ID", of: ({ id }) => id },
              { title: "MADE", of: ({ createdAt }) => relative(createdAt) },
              { title: "BY", of: ({ createdBy }) => createdBy },
              { title: "USED", of: ({ lastUsedAt }) => lastUsedAt && relative(lastUsedAt) },
              { title: "ENDS", of: ({ until }) => until && relative(until) },
            ],
            tokens,
          ),
        );
      }),
    );

  token
    .command("revoke")
    .description("Ends a token and everything begun with it, within a second everywhere. Asks first.")
    .argument("<token>", "its name or id")
    .option("--yes", "do not ask")
    .addHelpText("after", examples("tidegate token revoke ann --yes"))
    .action(
      act(async (cli, _flags: Flags, wanted: string) => {
        await cli.confirm(`Revoke the token ${wanted}?`);
        const { revoked } = (await cli
          .admin()
          .send("DELETE", `/v1/tokens/${segment(wanted)}`)) as TokenRevokedAnswer;
        if (cli.isJson) cli.printJson(revoked);
        else cli.print(`${printable(revoked.name)} (${revoked.role}) is revoked.`);
      }),
    );

  token
    .command("login-url")
    .description("Prints an address that logs a browser in, as you, once, within ten minutes.")
    .addHelpText("after", examples("tidegate token login-url"))
    .action(
      act(async (cli) => {
        const admin = cli.admin();
        const { code, until } = (await admin.send("POST", "/v1/login-codes")) as LoginCodeAnswer;
        const url = `${URL.canParse(admin.url) ? admin.url : adminUrl}/#login=${encodeURIComponent(code)}`;
        if (cli.isJson) return cli.printJson({ url, until });
        cli.print(url);
        cli.note(`It works once, and ends ${relative(until)}.`);
      }),
    );
};

function words({ name, role, until }: NamedToken): string {
  return `${printable(name)} is ${role}${until === undefined ? "" : `; it ends ${relative(until)}`}`;
}
