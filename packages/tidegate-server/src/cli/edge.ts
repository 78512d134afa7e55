import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Argument } from "commander";
import type { Rendered } from "../edges/render.js";
import { printable } from "../printable.js";
import { examples, type Flags, type Verbs, wholeNumber } from "./cli.js";
import { usageError } from "./exit.js";

interface RenderFlags extends Flags {
  readonly decideUrl: string;
  readonly timeout?: number;
  readonly customerHeader?: string;
  readonly userHeader?: string;
  readonly cachePath?: string;
  readonly out?: string;
}

export const addEdge: Verbs = (program, act) => {
  const edge = program
    .command("edge")
    .summary("what other proxies have to be told")
    .description("Other proxies that ask Tidegate.")
    .addHelpText("after", examples("tidegate edge render caddy"));

  edge
    .command("render")
    .description(
      "Writes what has to stand in another proxy's configuration, so that it asks the decision service before it lets a request through.",
    )
    .addArgument(new Argument("<proxy>", "which one").choices(["nginx-auth", "caddy", "traefik"]))
    .option(
      "--decide-url <address>",
      "of the decision service, as that proxy reaches it",
      "http://127.0.0.1:8090",
    )
    .option(
      "--timeout <ms>",
      "how long it waits for a decision before it lets a request pass (100)",
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
    .addHelpText("after", examples("tidegate edge render nginx-auth --out /etc/nginx/tidegate"))
    .action(
      act(async (cli, flags: RenderFlags, proxy: string) => {
        const { files } = await rendered(proxy, flags);
        if (flags.out !== undefined) {
          const folder = resolve(cli.io.cwd, flags.out);
          await mkdir(folder, { recursive: true });
          for (const { name, text } of files) await writeFile(join(folder, name), text);
          const paths = files.map(({ name }) => join(folder, name));
          if (cli.isJson) cli.printJson({ files: paths });
          else cli.print(paths.map((path) => `wrote ${printable(path)}`).join("\n"));
        } else if (cli.isJson) cli.printJson({ files });
        else
          cli.print(
            files.map(({ name, text }) => (files.length === 1 ? text : `# ---- ${name}\n${text}`)).join("\n"),
          );
      }),
    );
};

async function rendered(proxy: string, flags: RenderFlags): Promise<Rendered> {
  const { renderCaddy, renderNginxAuth, renderTraefik } = await import("../edges/render.js");
  const { decideUrl, timeout, customerHeader, userHeader, cachePath } = flags;
  if (cachePath !== undefined && proxy !== "nginx-auth")
    throw usageError(
      `--cache-path says nothing to ${proxy}.`,
      "Leave it out: nginx-auth alone keeps refusals.",
    );
  const options = {
    decideUrl,
    ...(timeout !== undefined && { timeoutMs: timeout }),
    identify: {
      ...(customerHeader !== undefined && { customer: customerHeader }),
      ...(userHeader !== undefined && { user: userHeader }),
    },
  };
  if (proxy === "caddy") return renderCaddy(options);
  if (proxy === "traefik") return renderTraefik(options);
  return renderNginxAuth({ ...options, ...(cachePath !== undefined && { cachePath }) });
}
