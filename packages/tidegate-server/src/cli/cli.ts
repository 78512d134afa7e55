import { type Command, InvalidArgumentError } from "commander";
import { printable, printableJson } from "../printable.js";
import { CliError, type ExitCode, exit, usageError } from "./exit.js";
import type { Io } from "./io.js";
import { type Colour, paint } from "./paint.js";
import { type RedisClient, redisClient } from "./redis-client.js";
import { type ServerClient, serverClient } from "./server-client.js";
import { withIsoTimes } from "./times.js";

/** Flags every verb knows. */
export interface Flags {
  readonly json?: boolean;
  readonly url?: string;
  readonly token?: string;
  readonly redis?: string;
  readonly config?: string;
  readonly yes?: boolean;
}

/** What a verb gets beside its arguments. */
export interface Cli {
  readonly io: Io;
  readonly isJson: boolean;
  /** The admin API: a server's, or straight on Redis one of our own. */
  admin(): ServerClient;
  /** Exactly this. Whatever a stranger may have written in it has been made printable before. */
  print(text: string): undefined;
  printJson(value: unknown): undefined;
  /** Something to know beside the answer, on stderr. Like `print` exactly this. */
  note(text: string): undefined;
  paint(colour: Colour, text: string): string;
  /** Goes on only if a person says yes, or has said so with `--yes`. */
  confirm(question: string): Promise<void>;
  close(): Promise<void>;
}

/** A group of verbs. */
export type Verbs = (program: Command, act: Acting) => void;

/** Makes a commander action of a verb: it gets what it needs, its flags, and its arguments. */
export type Acting = <F extends object, Arguments extends unknown[]>(
  verb: (
    cli: Cli,
    flags: F & Flags,
    ...given: Arguments
  ) => Promise<ExitCode | undefined> | ExitCode | undefined,
) => (...given: [...Arguments, unknown, Command]) => Promise<void>;

/** Where the admin API is unless told otherwise. */
export const adminUrl = "http://127.0.0.1:8088";

export function cliOf(io: Io, flags: Flags): Cli {
  const { json = false, yes = false, token } = flags;
  let straight: RedisClient | undefined;
  const cli: Cli = {
    io,
    isJson: json,
    admin() {
      const { url, redis } = whereabouts(io, flags);
      if (redis !== undefined) {
        straight ??= redisClient({ redis, config: flags.config, io, note: cli.note });
        return straight;
      }
      return serverClient({
        url,
        token: token ?? nonEmpty(io.env.TIDEGATE_TOKEN),
        env: io.env,
        flags: { url: "--url or TIDEGATE_URL", token: "TIDEGATE_TOKEN (or --token)", setting: "admin.token" },
      });
    },
    print(text) {
      io.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
    },
    printJson(value) {
      io.stdout.write(`${printableJson(jsonText(withIsoTimes(value)))}\n`);
    },
    note(text) {
      io.stderr.write(`${io.stderr.isTTY ? paint(io)("yellow", text) : text}\n`);
    },
    paint: paint(io),
    async confirm(question) {
      if (yes) return;
      if (!io.canAsk)
        throw usageError(`${printable(question)} Nobody is here to be asked.`, "Say yes with --yes.");
      const said = await io.ask(`${printable(question)} [y/N] `);
      if (!/^y(es)?$/i.test(said?.trim() ?? "")) throw new CliError(exit.no, "Nothing was done.", "");
    },
    close: async () => straight?.close(),
  };
  return cli;
}

/** What is written on the command line wins over the environment, and there a server over Redis. */
function whereabouts({ env }: Io, { url, redis }: Flags): { readonly url: string; readonly redis?: string } {
  if (url !== undefined && redis !== undefined)
    throw usageError("--url and --redis contradict each other.", "Give one of them: a server, or its Redis.");
  const server = url ?? (redis === undefined ? nonEmpty(env.TIDEGATE_URL) : undefined);
  const straight = redis ?? (server === undefined ? nonEmpty(env.TIDEGATE_REDIS) : undefined);
  return { url: server ?? adminUrl, ...(straight !== undefined && { redis: straight }) };
}

export function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** For options that count something. */
export function wholeNumber(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from 1 to ${most}.`);
  };
}

/** Help ends with something to copy. */
export function examples(...lines: string[]): string {
  return `\nExample${lines.length === 1 ? "" : "s"}:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? "null";
}
