import type { Context, Middleware, Next } from "koa";
import type { Decision } from "../decision.js";
import type { Gate } from "../gate.js";
import { mount } from "./mount.js";
import type { MountOptions } from "./mount-options.js";
import { NodeSubject, NodeVisit } from "./node-visit.js";
import type { Answer } from "./refusal.js";
import { noted } from "./visit.js";

/** Answers through Koa's context, so that middleware further out sees what is sent. */
class KoaVisit extends NodeVisit<Context> {
  override send({ status, headers, body }: Answer): void {
    const ctx = this.request;
    ctx.status = status;
    for (const [name, value] of headers) ctx.set(name, value);
    ctx.body = typeof body === "string" ? body : Buffer.from(body);
  }
}

/** Puts a gate in front of a Koa app: `app.use(tidegate({ limit: "100 per minute" }))`. */
export function tidegate(options: MountOptions<Context>): Middleware & { readonly gate: Gate } {
  const { gate, enter } = mount(options);

  async function tidegateMiddleware(ctx: Context, next: Next): Promise<void> {
    const visit = new KoaVisit(ctx, ctx.req, ctx.res, new NodeSubject(ctx.req, ctx.originalUrl));
    // Koa has no router of its own, and the usual one does.
    visit.subject.ignoresCase = true;
    if (!(await enter(ctx.req, visit))) return;
    try {
      await next();
    } catch (error) {
      if (error instanceof Error && Object.isExtensible(error)) keepLimits(ctx, error);
      throw error;
    }
  }

  return Object.assign(tidegateMiddleware, { gate });
}

/** Koa answers an error with no headers but the error's own. */
function keepLimits({ response }: Context, error: Error & { headers?: object }): void {
  const limits = Object.entries(response.headers).filter(([name]) => /^(x-)?ratelimit/.test(name));
  error.headers = { ...error.headers, ...Object.fromEntries(limits) };
}

/** What the gate said of this request. */
export function decisionOf(ctx: Pick<Context, "req">): Decision | undefined {
  return noted(ctx.req);
}

export type { HeaderForm, HeaderForms } from "./headers.js";
export type { HttpOptions, Identified, MountOptions } from "./mount-options.js";
export type { OwnRefusal } from "./refusal.js";
