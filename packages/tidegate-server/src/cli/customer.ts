import type { CustomerAnswer } from "../api/types.js";
import { printable } from "../printable.js";
import { type Cli, examples, type Flags, type Verbs } from "./cli.js";
import { CliError, exit, usageError } from "./exit.js";
import { segment } from "./server-client.js";
import { span } from "./times.js";

/** Ten years. */
const longestWindow = 315_360_000;

export const addCustomer: Verbs = (program, act) => {
  const customer = program
    .command("customer")
    .summary("a customer's tier and own limits")
    .description("A customer's tier, and limits of its own that replace the tier's.")
    .addHelpText("after", examples("tidegate customer show 42"));

  customer
    .command("show")
    .description("What is on record. Ends with 1 when there is nothing: the default tier applies then.")
    .argument("<id>", "the customer")
    .addHelpText("after", examples("tidegate customer show 42 --json"))
    .action(
      act(async (cli, _flags: Flags, id: string) => {
        const found = (await cli
          .admin()
          .get(`/v1/customers/${segment(id)}`)
          .catch(unknownCustomer)) as CustomerAnswer;
        if (cli.isJson) cli.printJson(found);
        else cli.print(customerText(found));
      }),
    );

  customer
    .command("tier")
    .description("Puts a customer into a tier of the policy, from the next request on.")
    .argument("<id>", "the customer")
    .argument("[tier]", "as the policy names it")
    .option("--none", "take the tier away: the default tier applies")
    .addHelpText("after", examples("tidegate customer tier 42 pro", "tidegate customer tier 42 --none"))
    .action(
      act(async (cli, { none }: Flags & { none?: boolean }, id: string, tier: string | undefined) => {
        if ((tier === undefined) === (none !== true))
          throw usageError("Which tier?", "Give a tier, or --none to take it away.");
        await change(cli, id, "tier", { tier: tier ?? null });
      }),
    );

  customer
    .command("override")
    .description(
      "Gives a customer limits of its own: windows in seconds, and how many requests each lets through.",
    )
    .argument("<id>", "the customer")
    .argument("[limits...]", "60=100 3600=1000")
    .option("--none", "take them away: the tier applies again")
    .addHelpText(
      "after",
      examples("tidegate customer override 42 60=100 3600=1000", "tidegate customer override 42 --none"),
    )
    .action(
      act(async (cli, { none }: Flags & { none?: boolean }, id: string, given: string[]) => {
        if ((given.length === 0) === (none !== true))
          throw usageError(
            "Which limits?",
            "Give windows and limits as 60=100, or --none to take them away.",
          );
        await change(cli, id, "limits", { limits: none === true ? null : limitsOf(given) });
      }),
    );
};

async function change(cli: Cli, id: string, part: "tier" | "limits", body: object): Promise<undefined> {
  const said = (await cli
    .admin()
    .send("PUT", `/v1/customers/${segment(id)}/${part}`, body)) as CustomerAnswer;
  if (cli.isJson) return cli.printJson(said);
  cli.print(customerText(said));
  if (said.state === "pending")
    cli.print(
      cli.paint(
        "yellow",
        "The primary database has not confirmed it: it is noted, and finished as soon as the database answers.",
      ),
    );
}

function limitsOf(given: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    given.map((text) => {
      const [, seconds, limit] = /^([1-9]\d{0,8})=(\d{1,15})$/.exec(text) ?? [];
      if (seconds === undefined || limit === undefined || Number(seconds) > longestWindow)
        throw usageError(
          `${JSON.stringify(text)} is not a limit.`,
          "Write the window in seconds, from 1 to ten years, and the limit, e.g. 60=100.",
        );
      return [seconds, Number(limit)];
    }),
  );
}

/** Nothing on record is an answer. */
function unknownCustomer(error: unknown): never {
  if (!(error instanceof CliError) || error.status !== 404) throw error;
  throw new CliError(exit.no, error.message, error.help, { code: error.code, status: 404 });
}

function customerText({ id, tier, limits }: CustomerAnswer): string {
  const own = Object.entries(limits ?? {}).map(
    ([seconds, limit]) => `${limit} in ${span(Number(seconds) * 1000)}`,
  );
  return [
    `customer  ${printable(id)}`,
    `tier      ${tier === null ? "the default one" : printable(tier)}${own.length > 0 ? " (its own limits apply instead)" : ""}`,
    ...(own.length > 0 ? [`limits    ${own.map(printable).join(", ")}`] : []),
    "",
  ].join("\n");
}
