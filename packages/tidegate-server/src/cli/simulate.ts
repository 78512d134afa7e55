import { printable } from "../printable.js";
import { type Cli, examples, type Flags, type Verbs } from "./cli.js";
import { exit } from "./exit.js";
import { outputFile, writeOutput } from "./output-file.js";
import { table } from "./table.js";

export interface SimulateFlags extends Flags {
  readonly halfLife?: string;
  readonly rate?: string;
  readonly overage?: string;
  readonly limit?: readonly string[];
  readonly svg?: string;
  readonly png?: string;
  readonly html?: string;
  readonly dark?: boolean;
}

export const addSimulate: Verbs = (program, act) => {
  program
    .command("simulate")
    .summary("show what limits do to clients that behave in known ways")
    .description(
      "Runs traffic of a known kind through EARRRL and other limits, the real ones, on a clock of its own: a table, and plots. Needs no server. Without a scenario it lists those there are.",
    )
    .argument("[scenario]", "its name, or a file (.yaml, .json) with one of your own")
    .option("--half-life <duration>", "EARRRL's half-life, e.g. 10s")
    .option(
      "--rate <rate>",
      'of all limits: calls per second, or e.g. "30 per minute"; traffic told by the limit follows',
    )
    .option("--overage <weight>", "what a refused call weighs in EARRRL, 0 to 1")
    .option(
      "--limit <limit>",
      'compare this instead: earrrl, fixed-window, sliding-log, sliding-counter or token-bucket, with a rate if you like ("sliding-log 100 per 1m"); may be given again',
      (text: string, before: readonly string[] = []) => [...before, text],
    )
    .option("--svg <file>", "write the plot there, as SVG")
    .option("--png <file>", "write the plot there, as PNG")
    .option("--html <file>", "write the plot and the table there, as a page of its own")
    .option("--dark", "PNG: for screens by night")
    .addHelpText(
      "after",
      examples(
        "tidegate simulate reform --svg reform.svg",
        "tidegate simulate convergence --half-life 1s",
        'tidegate simulate gaming --limit earrrl --limit "fixed-window 60 per 1m"',
        "tidegate simulate my-traffic.yaml --html my-traffic.html",
      ),
    )
    .action(
      act(async (cli, flags: SimulateFlags, name: string | undefined) => {
        if (name === undefined) return listScenarios(cli);
        // The library's limits, YAML and shapes: only those wait for them who simulate.
        const { scenarioOf } = await import("./scenario-of.js");
        const { runScenario } = await import("tidegate/simulate");
        const scenario = scenarioOf(name, flags, cli.io);
        const outputs = await outputsOf(cli, flags);
        const run = runScenario(scenario);
        const { runTables, runJson } = await import("./simulate-text.js");
        const tables = runTables(run);
        const files = outputs.map(({ path }) => path);
        if (cli.isJson) cli.printJson({ ...runJson(run), files });
        else {
          const told = tables.map(({ title, head, rows, words = 1 }) => {
            const columns = head.map((each, i) => ({
              title: each,
              of: (row: readonly string[]) => row[i],
              isNumber: i >= words,
            }));
            return `${printable(title)}\n${table(columns, rows)}`;
          });
          cli.print(
            [`${printable(run.scenario.title)}\n${printable(run.scenario.about)}\n`, ...told].join("\n"),
          );
        }
        if (outputs.length > 0) await write(cli, outputs, { run, tables, isDark: flags.dark === true });
        return exit.ok;
      }),
    );
};

async function listScenarios(cli: Cli): Promise<undefined> {
  const { readyScenarios } = await import("tidegate/simulate");
  const all = Object.values(readyScenarios).map((make) => make());
  if (cli.isJson) return cli.printJson(all.map(({ name, title, about }) => ({ name, title, about })));
  return cli.print(
    table(
      [
        { title: "Scenario", of: ({ name }) => name },
        { title: "What it shows", of: ({ title }) => title },
      ],
      all,
    ),
  );
}

type Shown = {
  readonly run: Parameters<typeof import("../plots/scenario-plot.js").scenarioPlot>[0];
  readonly tables: Parameters<typeof import("../plots/html-page.js").htmlPage>[1];
  readonly isDark: boolean;
};

interface Output {
  readonly kind: "svg" | "png" | "html";
  readonly path: string;
}

async function outputsOf(cli: Cli, flags: SimulateFlags): Promise<Output[]> {
  const outputs: Output[] = [];
  for (const kind of ["svg", "png", "html"] as const) {
    const file = flags[kind];
    if (file !== undefined) outputs.push({ kind, path: await outputFile(cli.io.cwd, file) });
  }
  return outputs;
}

async function write(cli: Cli, outputs: readonly Output[], { run, tables, isDark }: Shown): Promise<void> {
  const { scenarioPlot } = await import("../plots/scenario-plot.js");
  const plot = scenarioPlot(run);
  const make = {
    svg: async () => (await import("../plots/svg-plot.js")).svgPlot(plot),
    png: async () =>
      (await import("../plots/png-plot.js")).pngPlot(plot, { theme: isDark ? "dark" : "light" }),
    html: async () => (await import("../plots/html-page.js")).htmlPage(plot, tables),
  };
  for (const { kind, path } of outputs) {
    await writeOutput(path, await make[kind]());
    if (!cli.isJson) cli.note(`wrote ${printable(path)}`);
  }
}
