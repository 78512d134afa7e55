import type { Verdict } from "tidegate";
import { printable } from "../printable.js";
import { examples, type Flags, nonEmpty, type Verbs } from "./cli.js";
import { type RequestFlags, requestFacts, withRequestOptions } from "./client-facts.js";
import { exit, usageError } from "./exit.js";
import { serverClient } from "./server-client.js";
import { span } from "./times.js";

const decideUrl = "http://127.0.0.1:8090";

interface DecideFlags extends RequestFlags, Flags {
  readonly decideUrl?: string;
  readonly decideToken?: string;
  readonly rule?: string;
  readonly cost?: string;
  readonly id?: string;
}

interface Decided {
  readonly id: string;
  readonly allowed: boolean;
  readonly reason: string;
  readonly verdict?: Verdict;
}

export const addDecide: Verbs = (program, act) => {
  withRequestOptions(
    program
      .command("decide")
      .summary("judge a request, and charge it")
      .description(
        "Asks the decision service about one request and charges it, as a proxy would. To look without charging use why. Ends with 1 when refused.",
      )
      .argument("[client]", "an address, customer:<id>, user:<id> or account:<name>"),
  )
    .option("--rule <name>", "judge by this rule alone")
    .option("--cost <number>", "what it weighs (1)")
    .option("--id <id>", "charge once under this id, however often it is asked")
    .option("--decide-url <address>", `of the decision service (TIDEGATE_DECIDE_URL; ${decideUrl})`)
    .option("--decide-token <token>", "for the decision service; better in TIDEGATE_DECIDE_TOKEN")
    .addHelpText("after", examples("tidegate decide 203.0.113.7 --method POST --path /login"))
    .action(
      act(async (cli, flags: DecideFlags, client: string | undefined) => {
        if (flags.redis !== undefined)
          throw usageError(
            "--redis says nothing to decide: a decision service charges requests.",
            "Name it with --decide-url; why looks straight on Redis.",
          );
        const { env } = cli.io;
        const service = serverClient({
          url: flags.decideUrl ?? nonEmpty(env.TIDEGATE_DECIDE_URL) ?? decideUrl,
          token: flags.decideToken ?? nonEmpty(env.TIDEGATE_DECIDE_TOKEN),
          env,
          flags: {
            url: "--decide-url or TIDEGATE_DECIDE_URL",
            token: "TIDEGATE_DECIDE_TOKEN (or --decide-token)",
            setting: "decide.token",
          },
        });
        const decided = (await service.send("POST", "/v1/decide", {
          subject: requestFacts(client, flags),
          ...(flags.rule !== undefined && { rule: flags.rule }),
          ...(flags.cost !== undefined && { cost: costOf(flags.cost) }),
          ...(flags.id !== undefined && { id: flags.id }),
        })) as Decided;
        if (cli.isJson) cli.printJson(decided);
        else {
          const answer = decided.allowed ? cli.paint("green", "allowed") : cli.paint("red", "refused");
          cli.print(
            `${answer}  ${printable(decided.reason)}${verdictWords(decided)}\n${cli.paint("dim", `decision ${printable(decided.id)}`)}`,
          );
        }
        return decided.allowed ? exit.ok : exit.no;
      }),
    );
};

function costOf(text: string): number {
  const cost = Number(text);
  if (cost > 0 && Number.isFinite(cost)) return cost;
  throw usageError(`--cost ${JSON.stringify(text)} is not a cost.`, "Give a number above 0.");
}

function verdictWords({ allowed, verdict }: Decided): string {
  if (verdict === undefined) return "";
  const { name, key, remaining, limit, windowMs, retryAfterMs } = verdict;
  const whose = `, ${printable(name)} for ${printable(key)}`;
  if (allowed) return `${whose}: ${remaining} of ${limit} left in ${span(windowMs)}`;
  return `${whose}: ${limit} in ${span(windowMs)}; ${retryAfterMs === null ? "it can never pass" : `again in ${span(retryAfterMs)}`}`;
}
