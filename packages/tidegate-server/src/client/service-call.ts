import { TidegateError } from "tidegate";
import { Pool } from "undici";
import { isFields } from "./decision-from.js";
import { serviceBreaker } from "./service-breaker.js";

export interface CallOptions {
  readonly url: URL;
  readonly token: string | undefined;
  readonly connections: number;
}

/** POSTs JSON to the service and answers what it says; throws a `TidegateError` for whatever else happens. */
export interface ServiceCall {
  post(path: string, body: unknown, timeoutMs: number): Promise<unknown>;
  close(): Promise<void>;
}

const longestAnswer = 16_000_000;
/** The service takes no more, and may hang up on whoever sends it. */
const mostBodyBytes = 1_000_000;

/** Nobody answered, or nothing that says anything of the question: the service is away. */
export class NoAnswer extends TidegateError {}

export function serviceCall({ url, token, connections }: CallOptions): ServiceCall {
  const pool = new Pool(url.origin, { connections, pipelining: 1, maxResponseSize: longestAnswer });
  const base = url.pathname.replace(/\/+$/, "");
  const breaker = serviceBreaker({ failures: 5, pauseMs: 1000 });
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;

  async function answerTo(path: string, body: string, signal: AbortSignal): Promise<[number, string]> {
    const answer = await pool.request({ method: "POST", path: base + path, headers, body, signal });
    return [answer.statusCode, await answer.body.text()];
  }

  async function timed(path: string, body: string, timeoutMs: number): Promise<[number, string]> {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), timeoutMs);
    try {
      return await answerTo(path, body, controller.signal);
    } catch (error) {
      throw silent(
        controller.signal.aborted ? `it did not answer within ${timeoutMs} ms` : reasonOf(error),
        error,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async post(path, body, timeoutMs) {
      const text = JSON.stringify(body);
      if (Buffer.byteLength(text) > mostBodyBytes) throw tooLarge();
      if (!breaker.mayAsk()) throw silent("it failed five times in a row and is left alone for a second");
      try {
        const [status, answer] = await timed(path, text, timeoutMs);
        const said = parsed(answer);
        const isRefused = status >= 400 && status < 500 && !isBusy(status, said);
        if (status !== 200 && !isRefused) throw silent(`it answered ${status}`);
        if (said === undefined && !isRefused) throw silent("it answered something that is not JSON");
        breaker.succeeded();
        if (isRefused) throw refusedQuestion(status, said);
        return said;
      } catch (error) {
        if (error instanceof NoAnswer) breaker.failed();
        throw error;
      }
    },
    close: () => pool.close(),
  };
}

/** JSON knows no infinity: a wait of null is for ever. */
function parsed(text: string): unknown {
  try {
    return text.includes('AfterMs":null') ? JSON.parse(text, withForEver) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function withForEver(name: string, value: unknown): unknown {
  return value === null && name.endsWith("AfterMs") ? Number.POSITIVE_INFINITY : value;
}

/** Too much to do, or too slow to hear all of it, says nothing of the question. Too many wrong tokens are none of that, and have a code. */
function isBusy(status: number, said: unknown): boolean {
  return status === 408 || (status === 429 && codeIn(said) === undefined);
}

export function silent(why: string, cause?: unknown): NoAnswer {
  return new NoAnswer(
    "TG_SERVICE",
    `The decision service gave no decision: ${why}.`,
    "See that it runs, that its url is right, and that it is near enough for timeoutMs.",
    { cause },
  );
}

function tooLarge(): TidegateError {
  return new TidegateError(
    "TG_QUESTION_LARGE",
    "The question is too large for the decision service.",
    `A question has ${mostBodyBytes} bytes at most. Leave out headers no rule looks at.`,
  );
}

/** The service's own words: it says what to do, and with which code. */
function refusedQuestion(status: number, said: unknown): TidegateError {
  const detail = isFields(said) && typeof said.detail === "string" ? said.detail.slice(0, 500) : undefined;
  return new TidegateError(
    codeIn(said) ?? "TG_SERVICE",
    `The decision service answered ${status}.`,
    detail ?? "It did not say why: see that url is the decision service's.",
  );
}

function codeIn(said: unknown): string | undefined {
  const code = isFields(said) ? said.code : undefined;
  return typeof code === "string" && /^TG_\w{1,40}$/.test(code) ? code : undefined;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
