import { Argument, type Command } from "commander";
import { printable } from "../printable.js";
import { type Acting, examples, type Flags } from "./cli.js";
import { usageError } from "./exit.js";

interface SetupFlags extends Flags {
  readonly dryRun?: boolean;
}

export function addEdgeSetup(edge: Command, act: Acting): void {
  edge
    .command("setup")
    .description(
      "Makes at Fastly what the edge needs: dictionaries, the VCL and its calls, on a new version of the service, which is validated and activated. Shows first what would be done, and asks. Done again it does what is missing.",
    )
    .addArgument(new Argument("<kind>", "which").choices(["fastly"]))
    .argument("[edge]", "its name in the file of --config (the one of that kind)")
    .option("-c, --config <file>", "tidegate.yaml, which has the service and its token")
    .option("--dry-run", "only show what would be done")
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      examples(
        "tidegate edge setup fastly --config tidegate.yaml --dry-run",
        "tidegate edge setup fastly cdn --config tidegate.yaml",
      ),
    )
    .action(
      act(async (cli, { config, dryRun = false }: SetupFlags, _kind: string, name: string | undefined) => {
        if (config === undefined)
          throw usageError("Nothing says which service is meant.", "Add --config tidegate.yaml.");
        const { configuredEdge } = await import("./configured-edge.js");
        const { setUpFastly } = await import("../edges/fastly/set-up-fastly.js");
        const found = configuredEdge("fastly", { config, name, io: cli.io });
        const { fingerprint } = found.settings.identity;
        const options = {
          settings: { ...found.edge, name: found.name },
          ...(fingerprint !== undefined && { fingerprint }),
          signal: cli.io.interrupted,
        };
        const say = (line: string): void => {
          if (cli.isJson) cli.note(printable(line));
          else cli.print(printable(line));
        };
        const plan = await setUpFastly({ ...options, isDryRun: true, log: say });
        const isDone = !plan.steps.some((step) => step.startsWith("Would "));
        if (dryRun || isDone) return cli.isJson ? cli.printJson({ ...plan, isDryRun: dryRun }) : undefined;
        await cli.confirm(`Do so at the service ${found.edge.service}?`);
        const done = await setUpFastly({ ...options, isDryRun: false, log: say });
        if (cli.isJson) cli.printJson({ ...done, isDryRun: false });
      }),
    );
}
