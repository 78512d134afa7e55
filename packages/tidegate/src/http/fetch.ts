import type { Decision } from "../decision.js";
import type { Gate } from "../gate.js";
import { fetchPeer, isOnWorkers, peerTeller } from "./fetch-peer.js";
import { FetchVisit } from "./fetch-visit.js";
import { mount } from "./mount.js";
import type { MountOptions } from "./mount-options.js";
import { noted } from "./visit.js";

/** A fetch handler, with whatever the runtime hands in beside the request. */
export type FetchHandler<Beside extends readonly unknown[]> = (
  request: Request,
  ...beside: Beside
) => Response | Promise<Response>;

export type FetchOptions = MountOptions<Request> & {
  /** The address the request came from. Default: what Bun, Deno, Workers and @hono/node-server say of it. */
  clientIp?: (request: Request, ...beside: never[]) => string | undefined;
};

export interface FetchGuard {
  <Beside extends readonly unknown[]>(
    handler: FetchHandler<Beside>,
  ): (request: Request, ...beside: Beside) => Promise<Response>;
  /** The gate that judges: listen to its events here. */
  readonly gate: Gate;
}

/** Puts a gate in front of a fetch handler: `Bun.serve({ fetch: tidegate({ limit: "100 per minute" })(handler) })`. */
export function tidegate(options: FetchOptions): FetchGuard {
  const { gate, misuse, enter } = mount<Request>(options, ["clientIp"]);
  const isCertain = options.clientIp !== undefined;
  const peerOf = peerTeller<[Request, ...unknown[]]>(
    (options.clientIp ?? fetchPeer) as (request: Request, ...beside: unknown[]) => unknown,
    misuse,
  );

  function guard<Beside extends readonly unknown[]>(
    handler: FetchHandler<Beside>,
  ): (request: Request, ...beside: Beside) => Promise<Response> {
    return async function guarded(request, ...beside) {
      const visit = new FetchVisit(
        request,
        request,
        beside[0],
        peerOf(request, ...beside),
        isCertain || isOnWorkers(request),
      );
      try {
        const isLetIn = await enter(request, visit);
        if (!isLetIn) return visit.refused ?? new Response(null, { status: clientGone });
        return visit.pass(await handler(request, ...beside));
      } catch (error) {
        visit.end();
        throw error;
      }
    };
  }

  return Object.assign(guard, { gate });
}

/** Nobody reads it; a handler must answer something. */
const clientGone = 499;

/** What the gate said of this request. */
export function decisionOf(request: Request): Decision | undefined {
  return noted(request);
}

export type { HeaderForm, HeaderForms } from "./headers.js";
export type { HttpOptions, Identified, MountOptions } from "./mount-options.js";
export type { OwnRefusal } from "./refusal.js";
