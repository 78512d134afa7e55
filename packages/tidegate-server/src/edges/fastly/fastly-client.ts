import { EdgeError } from "../../edge.js";
import { printableStart } from "../../printable.js";
import type { Secret } from "../../secret.js";
import { version } from "../../version.js";
import type { WriteBudget, WriteKind } from "./write-budget.js";

export interface FastlyClientOptions {
  /** The edge, for messages. */
  readonly name: string;
  readonly api: string;
  readonly service: string;
  readonly token: Secret;
  readonly budget: WriteBudget;
  /** Of one exchange. Default 15,000. */
  readonly timeoutMs?: number;
}

export interface FastlyAnswer {
  /** Some 2xx, 400, 404, 409, 422 or 429: anything else is thrown. */
  readonly status: number;
  /** JSON, of any shape. */
  readonly body: unknown;
  readonly headers: Headers;
}

/** One service by Fastly's API. Paths begin below `/service/<id>`. */
export interface FastlyClient {
  /** The edge, for messages. */
  readonly edge: string;
  readonly service: string;
  get(path: string, signal: AbortSignal): Promise<FastlyAnswer>;
  /** Counts against the budget. A form where `body` is of URLSearchParams, else JSON. */
  write(
    method: "POST" | "PUT" | "PATCH",
    path: string,
    body: URLSearchParams | object | undefined,
    signal: AbortSignal,
    kind?: WriteKind,
  ): Promise<FastlyAnswer>;
  /** What an answer that says no says, in a few words. */
  detail(answer: FastlyAnswer): string;
}

const mostBytes = 8_000_000;
const answered = [400, 404, 409, 422, 429];

export function fastlyClient(options: FastlyClientOptions): FastlyClient {
  const { name, api, service, token, budget, timeoutMs = 15_000 } = options;
  const agent = `tidegate/${version()}`;
  const root = `${api.replace(/\/$/, "")}/service/${encodeURIComponent(service)}`;

  async function exchange(path: string, init: RequestInit, signal: AbortSignal): Promise<FastlyAnswer> {
    signal.throwIfAborted();
    const headers = new Headers(init.headers);
    headers.set("Fastly-Key", token.reveal());
    headers.set("Accept", "application/json");
    headers.set("User-Agent", agent);
    const deadline = AbortSignal.timeout(timeoutMs);
    const what = `${init.method} ${path.split("?", 1)[0]}`;
    let answer: Response;
    let text: string;
    try {
      // A redirect is not followed: the token is for this address.
      answer = await fetch(root + path, {
        ...init,
        headers,
        redirect: "manual",
        signal: AbortSignal.any([signal, deadline]),
      });
      budget.learn(answer.headers);
      text = await textOf(answer);
    } catch (error) {
      signal.throwIfAborted();
      throw unreached(
        name,
        `${api} did not answer ${what}: ${deadline.aborted ? "no answer in time" : reasonOf(error)}.`,
      );
    }
    const { status } = answer;
    if (status === 401 || status === 403)
      throw new EdgeError(
        "TG_EDGE_DENIED",
        name,
        `Fastly does not accept the token (${status}).`,
        "Give the edge a token with the scope `global` for this service, and see that it has not expired.",
        false,
      );
    if (!answer.ok && !answered.includes(status)) throw unreached(name, `${what} was answered ${status}.`);
    if (status === 429) budget.stop(answer.headers);
    return { status, body: jsonOf(text, status, what), headers: answer.headers };
  }

  function jsonOf(text: string, status: number, what: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      if (status >= 400) return undefined;
      throw unreached(name, `${what} was answered with something other than JSON.`);
    }
  }

  return {
    edge: name,
    service,
    get: (path, signal) => exchange(path, { method: "GET" }, signal),
    async write(method, path, body, signal, kind = "order") {
      const isForm = body instanceof URLSearchParams;
      const type = isForm ? "application/x-www-form-urlencoded" : "application/json";
      signal.throwIfAborted();
      budget.spend(kind);
      return exchange(
        path,
        {
          method,
          ...(body !== undefined && {
            body: isForm ? body.toString() : JSON.stringify(body),
            headers: { "Content-Type": type },
          }),
        },
        signal,
      );
    },
    detail({ status, body }) {
      const { msg, detail } = (typeof body === "object" && body !== null ? body : {}) as Record<
        string,
        unknown
      >;
      const words = [msg, detail].filter((each): each is string => typeof each === "string" && each !== "");
      return words.length === 0 ? `status ${status}` : printableStart(words.join(": "), 200);
    },
  };
}

export function unreached(edge: string, message: string): EdgeError {
  return new EdgeError(
    "TG_EDGE_UNREACHED",
    edge,
    message,
    "Nothing is known of what was sent: the edge is read again and set right. See that it runs and can be reached from here.",
    true,
  );
}

export function notSetUp(edge: string, message: string): EdgeError {
  return new EdgeError(
    "TG_EDGE_SETUP",
    edge,
    message,
    "Run `tidegate edge setup fastly`, first with --dry-run to see what it would do.",
    false,
  );
}

async function textOf(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    bytes += part.byteLength;
    if (bytes > mostBytes) throw new Error(`more than ${mostBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** A failed fetch says why in its cause. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return printableStart(
    cause instanceof Error ? cause.message : error instanceof Error ? error.message : error,
    200,
  );
}
