/** How a command ends, for scripts. */
export const exit = {
  ok: 0,
  /** The answer is no: refused, not valid, nothing there, or the act failed. */
  no: 1,
  usage: 2,
  unreachable: 3,
  /** The server understood and declined: no token, no such version, most likely a slip. */
  declined: 4,
} as const;

export type ExitCode = (typeof exit)[keyof typeof exit];

/** Ends a command with words for a person: what is wrong, and what to do. */
export class CliError extends Error {
  readonly exit: ExitCode;
  readonly help: string;
  /** The server's own code for it. */
  readonly code: string | undefined;
  /** Of the server's answer. */
  readonly status: number | undefined;

  constructor(
    exitCode: ExitCode,
    message: string,
    help: string,
    { code, status }: { code?: string | undefined; status?: number } = {},
  ) {
    super(message);
    this.status = status;
    this.exit = exitCode;
    this.help = help;
    this.code = code;
  }
}

export function usageError(message: string, help: string): CliError {
  return new CliError(exit.usage, message, help);
}
