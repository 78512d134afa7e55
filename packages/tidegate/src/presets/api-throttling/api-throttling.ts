import type { IncomingMessage, ServerResponse } from "node:http";
import { pathOf } from "../../http/target.js";
import type { PrintedAnswer } from "./answers.js";
import { openCache } from "./cache.js";
import { type Asked, createJudge } from "./judge.js";
import { type ApiThrottlingOptions, parseOptions } from "./options.js";

/** Middleware of Connect, Express and node:http; its `fetch` wraps a handler from Request to Response. */
export interface ApiThrottling {
  (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void;
  fetch<Rest extends unknown[]>(
    handler: (request: Request, ...rest: Rest) => Response | Promise<Response>,
  ): (request: Request, ...rest: Rest) => Promise<Response>;
  metrics(): ApiThrottlingMetrics;
  /** Closes what was opened by name; a cache handed in stays open. */
  close(): void;
}

export interface ApiThrottlingMetrics {
  /** The latest request was let through uncounted, for want of the cache. Alert on it. */
  readonly degraded: boolean;
  /** So many were, in all. */
  readonly withoutCache: number;
}

/**
 * Limits the users of an API per clock hour (UTC) as "Rack Middleware for Api Throttling" does, in its words and bytes. User
 * names are claimed, not proven: stand behind something that proves them. For a new service use `tidegate/express` and its like.
 */
export function apiThrottling<Req = IncomingMessage>(options: ApiThrottlingOptions<Req> = {}): ApiThrottling {
  const parsed = parseOptions(options as ApiThrottlingOptions<never>);
  const cache = openCache(parsed.cache, parsed.clock);
  const judge = orElse(cache.close, () => createJudge(parsed, cache.store));

  function throttle(
    request: IncomingMessage,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ): void {
    judge.judge(askedOfNode(request)).then((answer) => {
      if (answer === undefined) next();
      else response.writeHead(answer.status, answer.headers).end(answer.body);
    }, next);
  }

  return Object.assign(throttle, {
    fetch<Rest extends unknown[]>(
      handler: (request: Request, ...rest: Rest) => Response | Promise<Response>,
    ) {
      return async (request: Request, ...rest: Rest): Promise<Response> => {
        const answer = await judge.judge(askedOfFetch(request));
        return answer === undefined ? handler(request, ...rest) : responseOf(answer);
      };
    },
    metrics: () => ({ degraded: judge.isDegraded, withoutCache: judge.withoutCache }),
    close: cache.close,
  });
}

/** What was opened is closed again when an option further on turns out wrong. */
function orElse<T>(undo: () => void, build: () => T): T {
  try {
    return build();
  } catch (error) {
    undo();
    throw error;
  }
}

function askedOfNode(request: IncomingMessage & { originalUrl?: string }): Asked {
  return {
    request: request as never,
    // Express and Connect cut off where the middleware is mounted.
    path: pathOf(request.originalUrl ?? request.url ?? "/"),
    authorization: request.headers.authorization,
    peer: request.socket.remoteAddress,
  };
}

function askedOfFetch(request: Request): Asked {
  return {
    request: request as never,
    path: pathOf(request.url),
    authorization: request.headers.get("authorization") ?? undefined,
    peer: undefined,
  };
}

function responseOf({ status, headers, body }: PrintedAnswer): Response {
  return new Response(body, { status, headers });
}
