import { Argument } from "commander";
import type { Explanation, ListEntry } from "tidegate";
import type { ListAnswer, ListEntryAnswer, ListLine, ListRemovedAnswer } from "../api/types.js";
import { printable } from "../printable.js";
import { type Cli, examples, type Flags, type Verbs, wholeNumber } from "./cli.js";
import { CliError, usageError } from "./exit.js";
import { addListPreview } from "./list-preview.js";
import { pages } from "./pages.js";
import { query, segment } from "./server-client.js";
import { table } from "./table.js";
import { relative } from "./times.js";

interface AddFlags extends Flags {
  readonly for?: string;
  readonly permanent?: boolean;
  readonly why?: string;
  readonly force?: boolean;
}

const lists = ["safelist", "blocklist"];

export const addList: Verbs = (program, act) => {
  const list = program
    .command("list")
    .summary("who is never counted, and who is always refused")
    .description(
      "The safelist and the blocklist. A change holds within a second, everywhere; behind nginx, which repeats refusals, within six.",
    )
    .addHelpText("after", examples("tidegate list show"));

  addListPreview(list, act);

  list
    .command("show")
    .description("Who stands on the lists, and until when.")
    .addArgument(new Argument("[list]", "which (both)").choices(lists).argParser(listName))
    .option("--most <count>", "how many of each", wholeNumber(1_000_000), 1000)
    .addHelpText("after", examples("tidegate list show blocklist --json"))
    .action(
      act(async (cli, { most }: Flags & { most: number }, given: string | undefined) => {
        const names = given === undefined ? lists : [given];
        const found = await Promise.all(names.map((name) => listOf(cli, name, most)));
        if (cli.isJson) cli.printJson(given === undefined ? found : found[0]);
        else cli.print(found.map((list) => listText(cli, list, most)).join("\n"));
      }),
    );

  list
    .command("add")
    .description("Puts an address or a block on a list, for a week unless told otherwise.")
    .addArgument(new Argument("<list>", "which").choices(lists).argParser(listName))
    .argument("<address>", "203.0.113.7, 2001:db8::/32")
    .option("--for <duration>", "10m, 6h, 2d (1w)")
    .option("--permanent", "until it is removed")
    .option("--why <words>", "the reason, for whoever finds it")
    .option("--force", "even if it names this machine, yourself, a proxy, or a good part of the Internet")
    .addHelpText("after", examples('tidegate list add blocklist 203.0.113.7 --for 6h --why "scraper"'))
    .action(
      act(async (cli, flags: AddFlags, name: string, address: string) => {
        if (flags.permanent === true && flags.for !== undefined)
          throw usageError("--for and --permanent contradict each other.", "Give one of them.");
        const time = flags.permanent === true ? "permanent" : flags.for;
        const path = `/v1/lists/${name}/${segment(address)}`;
        const body = {
          ...(time !== undefined && { for: time }),
          ...(flags.why !== undefined && { why: flags.why }),
          ...(flags.force === true && { force: true }),
        };
        const { entry } = (await cli
          .admin()
          .send("PUT", path, body)
          .catch(sayFor(flags.for))) as ListEntryAnswer;
        if (cli.isJson) return cli.printJson(entry);
        cli.print(`${printable(entry.address)} is on the ${name}${untilWords(entry)}.`);
        if (name === "blocklist") await tellOfSafelist(cli, entry.address);
      }),
    );

  list
    .command("remove")
    .description("Takes an address or a block off a list. Asks first.")
    .addArgument(new Argument("<list>", "which").choices(lists).argParser(listName))
    .argument("<address>", "as it is listed")
    .option("--yes", "do not ask")
    .addHelpText("after", examples("tidegate list remove blocklist 203.0.113.7 --yes"))
    .action(
      act(async (cli, _flags: Flags, name: string, address: string) => {
        await cli.confirm(`Take ${address} off the ${name}?`);
        const path = `/v1/lists/${name}/${segment(address)}`;
        const said = (await cli.admin().send("DELETE", path)) as ListRemovedAnswer;
        if (cli.isJson) cli.printJson(said);
        else cli.print(`${printable(said.removed)} is off the ${name}.`);
      }),
    );
};

function listName(text: string): string {
  if (text === "safelist" || text === "blocklist") return text;
  throw usageError(`There is no list ${JSON.stringify(text)}.`, "Lists are safelist and blocklist.");
}

/** A server's word for it is not a shell's. */
function sayFor(duration: string | undefined): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof CliError) || error.code !== "TG_DURATION") throw error;
    throw new CliError(
      error.exit,
      `--for ${JSON.stringify(duration)} is not a duration.`,
      "Write it as 10m, 6h, 2d or 1w, or use --permanent.",
      { code: error.code },
    );
  };
}

/** Who blocks somebody and sees them pass is to know why. Of a block its first address is looked at. */
async function tellOfSafelist(cli: Cli, address: string): Promise<void> {
  const subject = { ip: address.split("/", 1)[0] };
  const explained = (await cli
    .admin()
    .send("POST", "/v1/explain", { subject })
    .catch(() => undefined)) as Explanation | undefined;
  if (explained?.reason !== "safelist") return;
  const entry = printable(explained.listed?.address ?? "it");
  cli.note(`But ${entry} is on the safelist, and the safelist wins: whoever is on both goes on to pass.`);
}

async function listOf(cli: Cli, name: string, most: number): Promise<ListAnswer> {
  const admin = cli.admin();
  let fromPolicy: readonly string[] = [];
  const entries = await pages<ListLine>("entries", most, async (count, last) => {
    const page = (await admin.get(
      `/v1/lists/${name}${query({ most: count, after: last?.address })}`,
    )) as ListAnswer;
    fromPolicy = page.fromPolicy;
    return page;
  });
  return { list: name as ListAnswer["list"], entries, fromPolicy };
}

function listText(cli: Cli, { list, entries, fromPolicy }: ListAnswer, most: number): string {
  const title = cli.paint("bold", list);
  const all = [...fromPolicy.map((address) => ({ address, who: "the policy" })), ...entries] as ListEntry[];
  if (all.length === 0) return `${title}: nobody\n`;
  const rows = table(
    [
      { title: "ADDRESS", of: ({ address }) => address },
      { title: "UNTIL", of: ({ until }) => (until === undefined ? "removed" : relative(until)) },
      { title: "WHO", of: ({ who }) => who },
      { title: "WHY", of: ({ why }) => why },
    ],
    all,
  );
  return `${title}\n${rows}${entries.length === most ? `The first ${most}; there may be more (--most).\n` : ""}`;
}

function untilWords({ until }: ListEntry): string {
  return until === undefined ? " until it is removed" : `, it ends ${relative(until)}`;
}
