import { type Duration, type IdentityOptions, parseDuration } from "tidegate";
import { openRehearsal, type SuggestOptions } from "tidegate/simulate";
import { anonymised } from "../rehearse/anonymised.js";
import { LogError } from "../rehearse/log-error.js";
import { readLogs } from "../rehearse/read-logs.js";
import type { ReplayReport } from "../rehearse/replay-report.js";
import type { Cli, Flags } from "./cli.js";
import { CliError, exit } from "./exit.js";
import { forwardedClient } from "./forwarded-client.js";
import { policyOfFile } from "./policy-of-file.js";
import { replayProgress } from "./replay-progress.js";

export interface ReplayFlags extends Flags {
  readonly policy: string;
  readonly against?: string;
  readonly format?: string;
  readonly template?: string;
  readonly xff?: string | true;
  readonly window?: string;
  readonly suggest?: boolean;
  readonly percentile?: number;
  readonly headroom?: number;
  readonly limitClients?: number;
  readonly anonymise?: boolean;
  readonly anonymiseKey?: string;
}

/** Logs through policies: what came of it. */
export async function replayRun(
  cli: Cli,
  flags: ReplayFlags,
  logs: readonly string[],
): Promise<ReplayReport> {
  const tried = policyOfFile(flags.policy, cli.io);
  const inForce = flags.against === undefined ? undefined : policyOfFile(flags.against, cli.io);
  const identity: IdentityOptions | undefined = tried.identity ?? inForce?.identity;
  const windowMs =
    flags.window === undefined ? undefined : parseDuration(flags.window as Duration, "--window");
  const field = flags.xff === true ? "http_x_forwarded_for" : flags.xff;
  const forwarded =
    field === undefined ? undefined : forwardedClient(field, tried.trustedProxies ?? inForce?.trustedProxies);
  const rehearsal = openRehearsal({
    policy: tried.policy,
    ...(inForce && { against: inForce.policy }),
    ...(identity && { identity }),
    ...(flags.limitClients !== undefined && { clients: flags.limitClients }),
    ...(flags.suggest === true && { suggest: suggestOf(flags) }),
  });
  const isHidden = flags.anonymise === true || flags.anonymiseKey !== undefined;
  const progress = replayProgress(cli.io);
  try {
    const { input, notes } = await readLogs(
      {
        logs,
        cwd: cli.io.cwd,
        input: cli.io.input,
        format: flags.format,
        template: flags.template,
        windowMs,
        clientOf: forwarded?.clientOf,
        isHidden,
        onProgress: (each) => progress.tell(each),
        // Ctrl-C ends the reading and shows what is known, where somebody sits.
        ...(cli.io.stderr.isTTY && { signal: cli.io.interrupted }),
      },
      (request) => rehearsal.add(request),
    );
    await rehearsal.finish();
    const report = rehearsal.report();
    const told = {
      ...report,
      notes: [...report.notes, ...notes, ...(forwarded?.notes() ?? [])],
      input: {
        policy: flags.policy,
        ...(flags.against !== undefined && { against: flags.against }),
        ...input,
      },
    };
    return isHidden ? anonymised(told, flags.anonymiseKey) : told;
  } catch (error) {
    throw error instanceof LogError ? unreadable(error) : error;
  } finally {
    progress.close();
    await rehearsal.close();
  }
}

function suggestOf({ percentile, headroom }: ReplayFlags): SuggestOptions {
  return { ...(percentile !== undefined && { percentile }), ...(headroom !== undefined && { headroom }) };
}

/** A log that is not there, or is none, is a slip of whoever named it. */
function unreadable({ message, help, code }: LogError): CliError {
  const words = message.slice(0, -` ${help} [${code}]`.length);
  return new CliError(exit.usage, words, help, { code });
}
