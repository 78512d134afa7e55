import type { CustomerRecord } from "tidegate";
import { Agent, fetch, type RequestInit, type Response } from "undici";
import type { Secret } from "../secret.js";
import {
  type CustomerSource,
  exchangeMs,
  messageOf,
  SourceError,
  type SourceOutcome,
  writeMs,
} from "./customer-source.js";

export interface HttpSourceOptions {
  readonly url: string;
  readonly token?: Secret;
}

const mostPageBytes = 16_000_000;
/** Less than a write may take: who can not be connected to is known not to have heard of it. */
const httpConnectMs = 3_000;

/**
 * Customers behind HTTP. `GET <url>` answers `[{ id, tier, limits }]`, `GET <url>?after=<last id>` the next page, until one is
 * empty or ends as an earlier one did. `PUT <url>/<id>` takes `{ tier, limits }`. Redirects are not followed: the token is for this address.
 */
export function httpSource({ url, token }: HttpSourceOptions): CustomerSource {
  const dispatcher = new Agent({ connect: { timeout: httpConnectMs } });
  const headers = {
    Accept: "application/json",
    ...(token !== undefined && { Authorization: `Bearer ${token.reveal()}` }),
  };

  async function page(after: string | undefined, signal: AbortSignal): Promise<unknown[]> {
    const address = new URL(url);
    if (after !== undefined) address.searchParams.set("after", after);
    const answer = await exchange(address, { headers, dispatcher }, exchangeMs, signal);
    if (!answer.ok) throw new SourceError("unreached", `GET was answered ${answer.status}`);
    let body: unknown;
    try {
      body = JSON.parse(answer.text);
    } catch {
      throw new SourceError("unreached", "GET was answered with something other than JSON");
    }
    if (!Array.isArray(body))
      throw new SourceError(
        "unreached",
        "GET was answered with something other than a list of {id, tier, limits}",
      );
    return body;
  }

  return {
    kind: "http",
    async *rows(signal) {
      const asked = new Set<string>();
      for (let after: string | undefined; ; ) {
        const rows = await page(after, signal);
        after = lastId(rows);
        // A server that knows no `after` answers the same page again: there is nothing new in it.
        if (after !== undefined && asked.has(after)) return;
        yield rows;
        if (rows.length === 0) return;
        // Taken for the end, it would remove everybody behind it.
        if (after === undefined)
          throw new SourceError(
            "unreached",
            "a list ended with a row without an id, so the next can not be asked for",
          );
        asked.add(after);
      }
    },
    async write(id, record) {
      const address = addressOf(url, id);
      const body = JSON.stringify(bodyOf(record));
      const { status, ok, text } = await exchange(
        address,
        { method: "PUT", dispatcher, headers: { ...headers, "Content-Type": "application/json" }, body },
        writeMs,
      );
      if (!ok)
        throw new SourceError(outcomeOf(status), `PUT was answered ${status} ${detailOf(text)}`.trim());
    },
    close: () => dispatcher.close(),
  };
}

function lastId(rows: readonly unknown[]): string | undefined {
  const last = rows.at(-1);
  const id = typeof last === "object" && last !== null && "id" in last ? last.id : undefined;
  return typeof id === "string" || typeof id === "number" ? String(id) : undefined;
}

/** Dots would climb to another address, encoded or not. */
function addressOf(url: string, id: string): URL {
  if (id === "." || id === ".." || /\p{Cs}/u.test(id))
    throw new SourceError("refused", `${JSON.stringify(id.slice(0, 40))} can not stand in an address`);
  const address = new URL(url);
  address.pathname = `${address.pathname.replace(/\/$/, "")}/${encodeURIComponent(id)}`;
  return address;
}

function bodyOf({ tier, limits }: CustomerRecord): {
  tier: string | null;
  limits: Record<string, number> | null;
} {
  return {
    tier: tier ?? null,
    limits: limits === undefined || limits.size === 0 ? null : Object.fromEntries(limits),
  };
}

/** 401 and 403 are about us, not about this customer; what a gateway says of a server it lost says nothing. */
function outcomeOf(status: number): SourceOutcome {
  if ([401, 403, 408, 425, 429, 503].includes(status)) return "unreached";
  return status >= 500 ? "unknown" : "refused";
}

interface Exchanged {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
}

async function exchange(
  address: URL,
  init: RequestInit,
  withinMs: number,
  signal?: AbortSignal,
): Promise<Exchanged> {
  const deadline = AbortSignal.timeout(withinMs);
  try {
    const answer = await fetch(address, {
      ...init,
      redirect: "manual",
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
    return { ok: answer.ok, status: answer.status, text: await textOf(answer) };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SourceError) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new SourceError(wasNeverSent(cause) ? "unreached" : "unknown", messageOf(cause));
  }
}

async function textOf(answer: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += piece.length;
    if (bytes > mostPageBytes)
      throw new SourceError("unknown", `it answered more than ${mostPageBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function wasNeverSent(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return [
    "ECONNREFUSED",
    "ENOTFOUND",
    "EAI_AGAIN",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "UND_ERR_CONNECT_TIMEOUT",
  ].includes(code);
}

/** What a problem says of itself. */
function detailOf(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    const { detail, message } = (body ?? {}) as { detail?: unknown; message?: unknown };
    const said = detail ?? message;
    return typeof said === "string" ? said : "";
  } catch {
    return "";
  }
}
