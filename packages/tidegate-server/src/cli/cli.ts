import { type Command, InvalidArgumentError } from "commander";
import { printable, printableJson } from "../printable.js";
import { CliError, type ExitCode, exit, usageError } from "./exit.js";
import type { Io } from "./io.js";
import { type Colour, paint } from "./paint.js";
import { type ServerClient, serverClient } from "./server-client.js";
import { withIsoTimes } from "./times.js";

/** Flags every verb knows. */
export interface Flags {
  readonly json?: boolean;
  readonly url?: string;
  readonly token?: string;
  readonly yes?: boolean;
}

/** What a verb gets beside its arguments. */
export interface Cli {
  readonly io: Io;
  readonly isJson: boolean;
  /** The admin API. */
  admin(): ServerClient;
  /** Exactly this. Whatever a stranger may have written in it has been made printable before. */
  print(text: string): undefined;
  printJson(value: unknown): undefined;
  /** Something to know beside the answer, on stderr. Like `print` exactly this. */
  note(text: string): undefined;
  paint(colour: Colour, text: string): string;
  /** Goes on only if a person says yes, or has said so with `--yes`. */
  confirm(question: string): Promise<void>;
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
  const { json = false, yes = false, url, token } = flags;
  return {
    io,
    isJson: json,
    admin: () =>
      serverClient({
        url: url ?? nonEmpty(io.env.TIDEGATE_URL) ?? adminUrl,
        token: token ?? nonEmpty(io.env.TIDEGATE_TOKEN),
        env: io.env,
        flags: { url: "--url or TIDEGATE_URL", token: "TIDEGATE_TOKEN (or --token)", setting: "admin.token" },
      }),
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
  };
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
