import type { Context, MiddlewareHandler } from "hono";
import type { Decision } from "../decision.js";
import type { Gate } from "../gate.js";
import { fetchPeer, isOnWorkers, peerTeller } from "./fetch-peer.js";
import { FetchVisit } from "./fetch-visit.js";
import { mount } from "./mount.js";
import type { MountOptions } from "./mount-options.js";
import { noted } from "./visit.js";

export type HonoOptions = MountOptions<Context> & {
  /** The address the request came from. Default: what Bun, Deno, Workers and @hono/node-server say of it. */
  clientIp?: (context: Context) => string | undefined;
};

/** Puts a gate in front of a Hono app: `app.use(tidegate({ limit: "100 per minute" }))`. */
export function tidegate(options: HonoOptions): MiddlewareHandler & { readonly gate: Gate } {
  const { gate, misuse, enter } = mount<Context>(options, ["clientIp"]);
  const isCertain = options.clientIp !== undefined;
  const peerOf = peerTeller(options.clientIp ?? ((c: Context) => fetchPeer(c.req.raw, c.env)), misuse);

  async function tidegateMiddleware(c: Context, next: () => Promise<void>): Promise<Response | undefined> {
    const visit = new FetchVisit(c, c.req.raw, c.env, peerOf(c), isCertain || isOnWorkers(c.req.raw));
    if (!(await enter(c, visit))) return visit.refused ?? c.body(null);
    try {
      await next();
    } catch (error) {
      visit.end();
      throw error;
    }
    const answer = visit.pass(c.res);
    if (answer !== c.res) {
      // Otherwise the headers of the old would be laid over the new.
      c.res = undefined;
      c.res = answer;
    }
    return undefined;
  }

  return Object.assign(tidegateMiddleware as MiddlewareHandler, { gate });
}

/** What the gate said of this request. */
export function decisionOf(context: Context): Decision | undefined {
  return noted(context);
}

export type { HeaderForm, HeaderForms } from "./headers.js";
export type { HttpOptions, Identified, MountOptions } from "./mount-options.js";
export type { OwnRefusal } from "./refusal.js";
