import { join, resolve } from "node:path";
import { Argument, type Command } from "commander";
import type { Rendered } from "../edges/render.js";
import { makeFolder } from "../make-folder.js";
import { printable } from "../printable.js";
import { type Acting, type Cli, examples, wholeNumber } from "./cli.js";
import { exit, usageError } from "./exit.js";
import { notWritten, writeOutput } from "./output-file.js";
import { type RenderFlags, refuseOtherFlags, renderable } from "./render-flags.js";

export function addEdgeRender(edge: Command, act: Acting): void {
  edge
    .command("render")
    .description(
      "Writes what has to stand in another server's configuration: so that it refuses who is held (haproxy, varnish, nginx-map, fastly), or asks the decision service first (nginx-auth, caddy, traefik).",
    )
    .addArgument(new Argument("<kind>", "for whom").choices(Object.keys(renderable)).argParser(kindOf))
    .argument(
      "[edge]",
      "its name in the file of --config (the one of that kind); not for those that ask first",
    )
    .option(
      "-c, --config <file>",
      "tidegate.yaml: fingerprints, the edge's own settings, where decisions are asked for and the headers of identify are as it says",
    )
    .option("--fingerprint <form>", "sha256 or seed, as identity.fingerprint (sha256)")
    .option("--maps <folder>", "haproxy: the folder of its maps (/etc/haproxy/tidegate)")
    .option("--client-header <name>", "haproxy: names the client where a proxy stands in front of it")
    .option("--client-from <block>", "haproxy: whose word on that is believed; may be given again", gathered)
    .option("--listener <name>", "varnish: of the listener that takes orders (tidegate)")
    .option("--control <block>", "varnish: who may give orders (this machine); may be given again", gathered)
    .option("--storage <name>", "varnish: where the table lives (the usual one)")
    .option("--grace <seconds>", "varnish: how long pages are kept for who is held", wholeNumber(315_360_000))
    .option("--file <path>", "nginx-map: of held addresses (/etc/nginx/tidegate/held.conf)")
    .option("--prefix <name>", "fastly: begins the dictionaries' names (tidegate)")
    .option("--shards <count>", "fastly: how many dictionaries (16)", wholeNumber(16))
    .option("--canary-path <path>", "fastly: where the service tells its canary (/.tidegate/canary)")
    .option(
      "--decide-url <address>",
      "of the decision service, as the proxy that asks reaches it (listen.decide of --config, or http://127.0.0.1:8090)",
    )
    .option(
      "--timeout <ms>",
      "how long a proxy waits for a decision before it lets a request pass (100)",
      wholeNumber(60_000),
    )
    .option(
      "--customer-header <name>",
      "identify.customer of tidegate.yaml: a client's own is not let through",
    )
    .option("--user-header <name>", "identify.user of tidegate.yaml: a client's own is not let through")
    .option(
      "--cache-path <folder>",
      "nginx-auth: where nginx keeps refusals; the folder above it has to be there (/var/cache/tidegate-nginx)",
    )
    .option("--out <folder>", "write the files there instead of showing them")
    .addHelpText(
      "after",
      examples(
        "tidegate edge render varnish --config tidegate.yaml --out /etc/varnish",
        "tidegate edge render nginx-auth --config tidegate.yaml --out /etc/nginx/tidegate",
      ),
    )
    .action(
      act(async (cli, flags: RenderFlags, kind: string, name: string | undefined) => {
        refuseOtherFlags(kind, flags);
        if (name !== undefined && flags.config === undefined)
          throw usageError("An edge is looked up in a file.", "Add --config tidegate.yaml.");
        // Each is loaded when it is asked for.
        const { rendered } = await import("./rendered-for.js");
        const { files, note } = await rendered(kind, flags, { name, io: cli.io });
        await show(cli, files, flags.out);
        if (note !== undefined) cli.note(note);
      }),
    );
}

function kindOf(text: string): string {
  const kinds = Object.keys(renderable);
  if (kinds.includes(text)) return text;
  const near = kinds.filter((kind) => kind.startsWith(`${text}-`));
  throw usageError(
    `${JSON.stringify(text.slice(0, 64))} is nothing that is rendered.`,
    near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `There are ${kinds.join(", ")}.`,
  );
}

async function show(cli: Cli, files: Rendered["files"], out: string | undefined): Promise<void> {
  if (out !== undefined) {
    const folder = resolve(cli.io.cwd, out);
    const paths = files.map(({ name }) => join(folder, name));
    try {
      makeFolder(folder);
    } catch (error) {
      throw notWritten(exit.usage, out, error);
    }
    for (const [i, { text }] of files.entries()) await writeOutput(paths[i] as string, text);
    if (cli.isJson) cli.printJson({ files: paths });
    else cli.print(paths.map((path) => `wrote ${printable(path)}`).join("\n"));
  } else if (cli.isJson) cli.printJson({ files });
  else
    cli.print(
      files.map(({ name, text }) => (files.length === 1 ? text : `# ---- ${name}\n${text}`)).join("\n"),
    );
}

function gathered(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
