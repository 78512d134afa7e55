import { examples, type Flags, type Verbs } from "./cli.js";

export const addSchema: Verbs = (program, act) => {
  program
    .command("schema")
    .summary("print the JSON Schema of tidegate.yaml")
    .description("Prints the JSON Schema of tidegate.yaml, for editors that complete and check it.")
    .addHelpText("after", examples("tidegate schema > tidegate.schema.json"))
    .action(
      act(async (cli, _flags: Flags) => {
        const { configSchema } = await import("../config/config-schema.js");
        cli.print(JSON.stringify(configSchema(), undefined, 2));
      }),
    );
};
