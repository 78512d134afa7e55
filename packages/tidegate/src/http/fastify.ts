import type { FastifyInstance, FastifyPluginCallback, FastifyRequest } from "fastify";
import type { Decision } from "../decision.js";
import { ConfigError, shown } from "../errors.js";
import { type RouteOptions, routeMounts } from "./fastify-routes.js";
import { FastifyVisit } from "./fastify-visit.js";
import type { MountOptions } from "./mount-options.js";
import { goOn, noted } from "./visit.js";

export type FastifyOptions = MountOptions<FastifyRequest> & {
  /** When requests are judged. Default `"onRequest"`, before anything is parsed; later ones know users and bodies. */
  hook?: "onRequest" | "preValidation" | "preHandler";
};

declare module "fastify" {
  interface FastifyContextConfig {
    /** This route's own: `false` leaves it alone, `{ limit: "5 per minute" }` stands in place of the plugin's. */
    tidegate?: RouteOptions;
  }
}

/**
 * Puts a gate in front of a Fastify app: `app.register(tidegate, { limit: "100 per minute" })`, or
 * `app.register(tidegate({ limit: "100 per minute" }))`. It is for all routes of the instance it is registered on.
 */
export const tidegate: ((options: FastifyOptions) => FastifyPluginCallback) &
  FastifyPluginCallback<FastifyOptions> = global(tidegatePlugin);

function tidegatePlugin(options: FastifyOptions): FastifyPluginCallback;
function tidegatePlugin(
  fastify: FastifyInstance,
  options: FastifyOptions,
  done: (error?: Error) => void,
): void;
function tidegatePlugin(first: unknown, options?: unknown, done?: (error?: Error) => void): unknown {
  if (done !== undefined) return install(first as FastifyInstance, options as FastifyOptions, done);
  const plugin: FastifyPluginCallback = (fastify, _, ready) =>
    install(fastify, first as FastifyOptions, ready);
  return global(plugin);
}

/** Fastify hears of a fault through `done` only. */
function install(fastify: FastifyInstance, options: FastifyOptions, done: (error?: Error) => void): void {
  try {
    addHooks(fastify, options);
    done();
  } catch (error) {
    done(error as Error);
  }
}

function addHooks(fastify: FastifyInstance, options: FastifyOptions): void {
  const hook = parseHook(options.hook);
  const mounts = routeMounts(options);
  const hearsOfAll = hasNoRoutes(fastify);
  const isCaseIgnored = ignoresCase(fastify);
  fastify.addHook("onRoute", (route) => mounts.declare(route));
  fastify.addHook("onReady", async () => mounts.settle(hearsOfAll));
  fastify.addHook(hook, function tidegateHook(request, reply, next) {
    // Fastify makes the route's options anew each time they are asked for.
    const mounted = mounts.only ?? mounts.mountOf(request.routeOptions);
    if (mounted === undefined) return next();
    const visit = new FastifyVisit(request, reply);
    if (isCaseIgnored) visit.subject.ignoresCase = true;
    goOn(mounted.enter(request.raw, visit), next);
  });
}

const hooks = ["onRequest", "preValidation", "preHandler"];

/** Fastify's later hooks come when there is nothing left to refuse. They are all called alike. */
function parseHook(hook: string = "onRequest"): "onRequest" {
  if (hooks.includes(hook)) return hook as "onRequest";
  throw new ConfigError(
    "TG_FASTIFY_HOOK",
    "tidegate.hook",
    `${shown(hook)} can not refuse a request.`,
    `Write ${hooks.map((each) => JSON.stringify(each)).join(", ")}.`,
  );
}

/** Nobody tells of routes declared before the plugin, as they are where its registration is not awaited. */
function hasNoRoutes(fastify: FastifyInstance): boolean {
  return fastify.printRoutes() === "(empty tree)";
}

/** Its router does not, unless Fastify is told so, in either of two places. */
function ignoresCase({ initialConfig }: FastifyInstance): boolean {
  const { caseSensitive, routerOptions } = initialConfig;
  return caseSensitive === false || routerOptions?.caseSensitive === false;
}

/** What the gate said of this request. */
export function decisionOf(request: FastifyRequest): Decision | undefined {
  return noted(request.raw);
}

/** Its hooks are for the instance that registers it, not for one of the plugin's own. */
function global<Function extends object>(plugin: Function): Function {
  return Object.assign(plugin, {
    [Symbol.for("skip-override")]: true,
    [Symbol.for("fastify.display-name")]: "tidegate",
  });
}

export type { RouteOptions } from "./fastify-routes.js";
export type { HeaderForm, HeaderForms } from "./headers.js";
export type { HttpOptions, Identified, MountOptions } from "./mount-options.js";
export type { OwnRefusal } from "./refusal.js";
