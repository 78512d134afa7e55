import type { Command } from "commander";
import { type StartFlags, usualFile } from "./start-flags.js";

export function addStart(program: Command): void {
  program
    .command("start")
    .summary("run the proxy, the decision service and the admin API")
    .description(
      "Runs the proxy, the decision service and the admin API in one process, from one file. Without --config it takes " +
        `./${usualFile}; without that it starts a demo: an app of its own behind 100 requests a minute by address.`,
    )
    .option("-c, --config <file>", `settings and policy (default: ./${usualFile} if there is one)`)
    .option("--redis <url>", "counts and data in Redis, e.g. redis://127.0.0.1:6379")
    .option("--listen <address>", "where the proxy listens, e.g. 0.0.0.0:8080 or :8080")
    .option("--admin <address>", "where the admin API listens; false leaves it out")
    .option("--decide <address>", "where the decision service listens; false leaves it out")
    .option("--upstream <url>", "what stands behind the proxy, e.g. http://127.0.0.1:3000")
    .option("--data <folder>", "where the embedded data lives")
    .option("--workers <count>", "processes that meet the traffic (needs Redis)")
    .option("--log-level <level>", "trace, debug, info, warn, error or silent")
    .addHelpText("after", "\nExample:\n  $ tidegate start --upstream http://127.0.0.1:3000 --listen :8080")
    // All other verbs do without the server's modules, which take their time to load.
    .action(async (_own: StartFlags, command: Command) =>
      (await import("./run-server.js")).runServer(command.optsWithGlobals<StartFlags>()),
    );
}
