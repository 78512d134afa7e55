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
      if (!breaker.mayAsk()) throw silent("it failed five times in a row and is left alone for a second");
      try {
        const [status, answer] = await timed(path, text, timeoutMs);
        if (status >= 500) throw silent(`it answered ${status}`);
        const said = parsed(answer);
        if (said === undefined) throw silent(`it answered ${status} with something that is not JSON`);
        breaker.succeeded();
        if (status === 200) return said;
        throw refusedQuestion(status, said);
      } catch (error) {
        if (error instanceof TidegateError && error.code === "TG_SERVICE") breaker.failed();
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

export function silent(why: string, cause?: unknown): TidegateError {
  return new TidegateError(
    "TG_SERVICE",
    `The decision service gave no decision: ${why}.`,
    "See that it runs, that its url is right, and that it is near enough for timeoutMs.",
    { cause },
  );
}

/** The service's own words: it says what to do, and with which code. */
function refusedQuestion(status: number, said: unknown): TidegateError {
  const problem = isFields(said) ? said : {};
  const code =
    typeof problem.code === "string" && /^TG_\w{1,40}$/.test(problem.code) ? problem.code : "TG_SERVICE";
  const detail = typeof problem.detail === "string" ? problem.detail.slice(0, 500) : "It did not say why.";
  return new TidegateError(code, `The decision service answered ${status}.`, detail);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
