import type { Header } from "./headers.js";
import { HttpSubject } from "./http-subject.js";
import type { Answer } from "./refusal.js";
import { pathOf } from "./target.js";
import { Visit } from "./visit.js";

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
  readonly #headers: Header[] = [];

  constructor(app: App, request: Request, peer: string | undefined, isPeerCertain: boolean) {
    super(app, new FetchSubject(request), peer);
    this.isPeerCertain = isPeerCertain;
    this.#request = request;
    const { signal } = request;
    if (signal?.aborted) this.end();
    else signal?.addEventListener("abort", () => this.end(), { once: true });
  }

  /** Of the answer so far: there is none before the app has made it. */
  getHeader(): undefined {}

  setHeader(name: string, value: string): void {
    this.#headers.push([name, value]);
  }

  send({ status, headers, body }: Answer): void {
    const sent = new Headers();
    for (const [name, value] of [...this.#headers, ...headers]) sent.set(name, value);
    this.refused = new Response(this.#isHead ? null : body, { status, headers: sent });
    this.end(status);
  }

  /** The app's answer with what the client is to know of its limits. The visit ends with the last byte of it. */
  pass(response: Response): Response {
    const { body, status, statusText } = response;
    if (body === null || this.#isHead || status === 101) {
      this.end(status);
      return this.#withHeaders(response);
    }
    const headers = new Headers(response.headers);
    this.#write(headers);
    return new Response(
      watched(body, () => this.end(status)),
      { status, statusText, headers },
    );
  }

  get #isHead(): boolean {
    return this.#request.method === "HEAD";
  }

  #withHeaders(response: Response): Response {
    try {
      this.#write(response.headers);
      return response;
    } catch {
      // Answers that came from fetch() can not be written to.
      const copy = new Response(response.body, response);
      this.#write(copy.headers);
      return copy;
    }
  }

  /** What a gate further in, or behind, has said of its limits stays. */
  #write(headers: Headers): void {
    for (const [name, value] of this.#headers) {
      if (name === "RateLimit" || name === "RateLimit-Policy") headers.append(name, value);
      else headers.set(name, value);
    }
  }
}

/** The same bytes; tells when they have ended, failed, or are wanted no more. */
function watched(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        onEnd();
      },
      cancel(reason) {
        onEnd();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

function hostOf(url: string): string {
  const start = url.indexOf("://") + 3;
  const end = url.indexOf("/", start);
  return start < 3 ? "" : url.slice(start, end < 0 ? undefined : end);
}
