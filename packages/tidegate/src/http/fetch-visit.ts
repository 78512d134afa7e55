import { needsEnd } from "../assemble-gate.js";
import type { Decision } from "../decision.js";
import { senderOf, watched } from "./fetch-end.js";
import type { Header } from "./headers.js";
import { HttpSubject } from "./http-subject.js";
import type { Answer } from "./refusal.js";
import { pathOf } from "./target.js";
import { finish, isLimitList, Visit } from "./visit.js";

class FetchSubject extends HttpSubject {
  readonly #request: Request;

  constructor(request: Request) {
    super(request.method, pathOf(request.url));
    this.#request = request;
  }

  get host(): string {
    return this.header("host") ?? hostOf(this.#request.url);
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }
}

/** A visit whose answer is a `Response`. `app` is what the app calls the request: itself, or a context around it. */
export class FetchVisit<App> extends Visit<App> {
  /** The refusal, once there is one. */
  refused: Response | undefined;
  readonly #request: Request;
  readonly #beside: unknown;
  readonly #headers: Header[] = [];
  #status: number | undefined;

  /** `beside` is what the runtime hands in beside the request. */
  constructor(app: App, request: Request, beside: unknown, peer: string | undefined, isPeerCertain: boolean) {
    super(app, new FetchSubject(request), peer);
    this.isPeerCertain = isPeerCertain;
    this.#request = request;
    this.#beside = beside;
    const { signal } = request;
    if (signal?.aborted) this.end();
    else signal?.addEventListener("abort", this, { once: true });
  }

  /** The request was aborted. */
  handleEvent(): void {
    this.end();
  }

  protected override watch(): void {
    senderOf(this.#beside)?.once("close", () => this.end(this.#status));
  }

  /** Of the answer so far: there is none before the app has made it. */
  getHeader(): undefined {}

  setHeader(name: string, value: string): void {
    this.#headers.push([name, value]);
  }

  /** The length is the runtime's to say: middleware further out may send another body under these headers. */
  send({ status, headers, body }: Answer): void {
    const sent = new Headers(this.#headers as [string, string][]);
    for (const [name, value] of headers) {
      sent.delete(name);
      for (const each of [value].flat()) sent.append(name, each);
    }
    if (!this.#isHead) sent.delete("Content-Length");
    this.refused = new Response(this.#isHead || body.length === 0 ? null : body, { status, headers: sent });
    this.end(status);
  }

  /**
   * The app's answer with what the client is to know of its limits. Its status is all that counts wait for; only a lease
   * lasts to the last byte. Middleware further out may drop the answer and its body unread.
   */
  pass(response: Response): Response {
    const { status } = response;
    const { decision } = this;
    this.#status = status;
    if (decision === undefined || !holdsLease(decision) || this.#isHead || status === 101) this.end(status);
    else if (senderOf(this.#beside) === undefined) return this.#untilRead(response, decision);
    return this.#withHeaders(response);
  }

  #untilRead(response: Response, decision: Decision): Response {
    const { status } = response;
    try {
      const { body, statusText } = response;
      if (body !== null) {
        // Bound, since a closure would keep the visit alive, and with it the answer.
        const onLost = finish.bind(undefined, decision, status);
        const stream = watched(body, () => this.end(status), onLost);
        const headers = new Headers(response.headers);
        this.#write(headers);
        return new Response(stream, { status, statusText, headers });
      }
    } catch {
      // Somebody else reads it already: its end is not to be seen from here.
    }
    this.end(status);
    return this.#withHeaders(response);
  }

  get #isHead(): boolean {
    return this.#request.method === "HEAD";
  }

  #withHeaders(response: Response): Response {
    try {
      this.#write(response.headers);
      return response;
    } catch {
      return this.#copyWithHeaders(response);
    }
  }

  /** Answers that came from fetch() can not be written to. */
  #copyWithHeaders(response: Response): Response {
    try {
      const copy = new Response(response.body, response);
      this.#write(copy.headers);
      return copy;
    } catch {
      // Read by somebody already, or `Response.error()`: the runtime's to deal with.
      return response;
    }
  }

  /** What the app, or a gate further in, has said of limits stays, as it would have been said last elsewhere. */
  #write(headers: Headers): void {
    for (const [name, value] of this.#headers) {
      const inner = headers.get(name);
      if (inner === null) headers.set(name, value);
      else if (isLimitList(name)) headers.set(name, `${value}, ${inner}`);
    }
  }
}

/** A place among those let in at the same time: no other charge is named here. */
function holdsLease(decision: Decision): boolean {
  return needsEnd(decision) && decision.verdicts.some(({ id }) => id !== undefined);
}

function hostOf(url: string): string {
  const start = url.indexOf("://") + 3;
  const end = url.indexOf("/", start);
  return start < 3 ? "" : url.slice(start, end < 0 ? undefined : end);
}
