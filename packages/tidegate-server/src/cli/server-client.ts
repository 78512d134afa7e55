import { userInfo } from "node:os";
import { CliError, type ExitCode, exit, usageError } from "./exit.js";
import type { Io } from "./io.js";

/** Asks a listener of the server. Whatever goes wrong is a `CliError` that says what to do. */
export interface ServerClient {
  readonly url: string;
  get(path: string): Promise<unknown>;
  send(method: "POST" | "PUT" | "DELETE", path: string, body?: unknown): Promise<unknown>;
  /** An answer that goes on, as it comes. */
  stream(path: string, options: StreamOptions): Promise<ReadableStream<Uint8Array>>;
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServerClientOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly env: Io["env"];
  /** How to say another address, and the token. */
  readonly flags: { readonly url: string; readonly token: string; readonly setting: string };
}

const patienceMs = 10_000;

export function serverClient({ url, token, env, flags }: ServerClientOptions): ServerClient {
  const base = baseOf(url, flags.url);
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw usageError("The token has characters no header can carry.", `See what ${flags.token} is set to.`);

  const usualHeaders = {
    Accept: "application/json",
    "Tidegate-Who": whoAmI(env),
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };

  async function exchange(method: string, path: string, body?: unknown): Promise<unknown> {
    let status: number;
    let text: string;
    try {
      const answer = await fetch(new URL(path, base), {
        method,
        redirect: "error",
        signal: AbortSignal.timeout(patienceMs),
        headers: {
          ...usualHeaders,
          ...(body !== undefined && { "Content-Type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      status = answer.status;
      text = await answer.text();
    } catch (error) {
      throw unreachable(base.origin, error, flags.url);
    }
    const said = parsed(text);
    if (status >= 200 && status < 300 && (said !== undefined || text === "")) return said;
    throw refused(status, said);
  }

  function refused(status: number, said: unknown): CliError {
    if (status === 401)
      return new CliError(
        exit.declined,
        token === undefined ? `${base.origin} wants a token.` : `${base.origin} does not take this token.`,
        `Set ${flags.token} to what the server's ${flags.setting} is${ownTokens(flags.setting)}.`,
        { code: codeOf(said), status },
      );
    return declined(base.origin, status, said, flags.url);
  }

  async function stream(
    path: string,
    { signal, headers }: StreamOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(new DOMException("late", "TimeoutError")), patienceMs);
    try {
      const answer = await fetch(new URL(path, base), {
        redirect: "error",
        signal: AbortSignal.any([signal, patience.signal]),
        headers: { ...usualHeaders, Accept: "text/event-stream", ...headers },
      });
      if (answer.status === 200 && answer.body !== null) return answer.body;
      throw refused(answer.status, parsed(await answer.text()));
    } catch (error) {
      throw error instanceof CliError ? error : unreachable(base.origin, error, flags.url);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    url: base.origin,
    get: (path) => exchange("GET", path),
    send: (method, path, body) => exchange(method, path, body),
    stream,
  };
}

/** Where there may be others than the one of the settings. */
function ownTokens(setting: string): string {
  return setting === "admin.token" ? ", or to a token made for you" : "";
}

/** One segment of a path. Dots would climb to another address, encoded or not. */
export function segment(text: string): string {
  if (text === "." || text === ".." || text === "" || /\p{Cs}/u.test(text))
    throw usageError(`${JSON.stringify(text)} can not be asked for.`, "Give an address or an id.");
  return encodeURIComponent(text);
}

/** `?a=1&b=2` of what is given. */
export function query(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).filter(
    (each): each is [string, string | number] => each[1] !== undefined,
  );
  return given.length === 0
    ? ""
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

function baseOf(text: string, flag: string): URL {
  const base = URL.canParse(text) ? new URL(text) : undefined;
  if (base !== undefined && /^https?:$/.test(base.protocol) && base.username === "" && base.password === "")
    return base;
  throw usageError(
    `${JSON.stringify(text)} is not an address of a server.`,
    `Write ${flag} as http://127.0.0.1:8088.`,
  );
}

function whoAmI(env: Io["env"]): string {
  let name = env.USER ?? env.LOGNAME;
  try {
    name ??= userInfo().username;
  } catch {
    // A user without a name.
  }
  return `cli:${(name ?? "").replace(/[^\x21-\x7e]/g, "").slice(0, 60) || "somebody"}`;
}

function unreachable(origin: string, error: unknown, flag: string): CliError {
  if (error instanceof Error && error.name === "TimeoutError")
    return new CliError(
      exit.unreachable,
      `${origin} gave no answer within ${patienceMs / 1000} s.`,
      `See its log, and that ${flag} names the right place. A change may still be made: look before you ask again.`,
    );
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  const why = code ?? (cause instanceof Error ? cause.message : "");
  return new CliError(
    exit.unreachable,
    `${origin} can not be reached (${why}).`,
    `Start the server with \`tidegate start\`, or name where it is with ${flag}.`,
  );
}

function declined(origin: string, status: number, said: unknown, flag: string): CliError {
  const { title, detail, help } = (said ?? {}) as { title?: unknown; detail?: unknown; help?: unknown };
  if (typeof title !== "string")
    return new CliError(
      exit.declined,
      `${origin} answered ${status}, and not as Tidegate does.`,
      `See that ${flag} names the right listener.`,
      { status },
    );
  const words = typeof detail === "string" && detail !== "" ? detail : title;
  const advice = typeof help === "string" ? inShellWords(help) : "";
  const code = codeOf(said);
  return new CliError(exitOf(status, code), words, advice, { code, status });
}

/** Who names what is not there was understood; whatever else is wrong with a request was written on the command line. */
function exitOf(status: number, code: string | undefined): ExitCode {
  return status === 400 && code?.endsWith("_UNKNOWN") !== true ? exit.usage : exit.declined;
}

/** Advice for those who speak HTTP, for those who type. */
function inShellWords(help: string): string {
  return help
    .replace(/\bGET \/v1\/lists\/(safelist|blocklist)\b/, "`tidegate list show $1`")
    .replace(/\bGET \/v1\/policy\/versions\b|\bThe history\b/, "`tidegate policy history`")
    .replace("Ask the server that refused", "Leave --redis out, and ask the server that refused")
    .replace("GET /v1/audit", "`tidegate audit`")
    .replace("POST /v1/explain", "`tidegate why <client>`")
    .replace("GET /v1/tokens", "`tidegate token list`")
    .replace('send {"force": true}', "add --force");
}

function codeOf(said: unknown): string | undefined {
  const code = typeof said === "object" && said !== null && "code" in said ? said.code : undefined;
  return typeof code === "string" ? code : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
