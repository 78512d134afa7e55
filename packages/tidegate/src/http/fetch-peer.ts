import type { Misuse } from "./misuse.js";

/** What runtimes hand to a fetch handler beside the request. */
interface Surroundings {
  /** Bun: the server. */
  readonly requestIP?: (request: Request) => { readonly address: string } | null;
  /** Bun, by way of Hono. */
  readonly server?: Surroundings;
  /** Deno: the connection. */
  readonly remoteAddr?: { readonly hostname?: string };
  /** Node, by way of @hono/node-server. */
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
}

/** Cloudflare's runtime puts `cf` on requests, and then the header with the address is the runtime's too. */
export function isOnWorkers(request: Request): boolean {
  return "cf" in request && typeof request.cf === "object" && request.cf !== null;
}

/** The address a request came from, by what the runtime says beside it. Nothing a client sends is believed. */
export function fetchPeer(request: Request, beside: unknown): string | undefined {
  if (isOnWorkers(request)) return request.headers.get("cf-connecting-ip") ?? undefined;
  if (typeof beside !== "object" || beside === null) return undefined;
  const { remoteAddr, incoming, server } = beside as Surroundings;
  const bun = typeof (beside as Surroundings).requestIP === "function" ? (beside as Surroundings) : server;
  return bun?.requestIP?.(request)?.address ?? remoteAddr?.hostname ?? incoming?.socket?.remoteAddress;
}

/** Asks the app, or the runtime, for the peer. Whatever comes back but a text is no address. */
export function peerTeller<Asked extends readonly unknown[]>(
  peerOf: (...asked: Asked) => unknown,
  misuse: Misuse,
): (...asked: Asked) => string | undefined {
  return (...asked) => {
    try {
      const peer = peerOf(...asked);
      return typeof peer === "string" ? peer : undefined;
    } catch (error) {
      misuse.failed("clientIp threw", error, "Such requests are counted as one client.");
      return undefined;
    }
  };
}
