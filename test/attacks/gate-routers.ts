import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parse } from "node:url";
import express from "express";
import fastify from "fastify";
import Koa from "koa";
import type { Decision, RuleOptions } from "tidegate";
import * as forExpress from "tidegate/express";
import * as forFastify from "tidegate/fastify";
import * as forKoa from "tidegate/koa";
import * as forNode from "tidegate/node";
import { listening } from "../adapters/serving.js";

/** Says what the gate made of a request before its handler was asked. */
export type Note = (decision: Decision | undefined) => void;

export type About = Pick<RuleOptions, "only" | "except">;

/** An app with one route, behind a gate with one rule. */
export interface Routed {
  readonly port: number;
  close(): Promise<void>;
}

export type Router = (route: string, about: About, note: Note) => Promise<Routed>;

const gateFor = (about: About) => ({
  rules: [{ name: "route", ...about, by: "ip" as const, limits: ["1000000 per hour" as const] }],
  onWarning: () => {},
});

async function serving(listener: RequestListener): Promise<Routed> {
  const server = createServer(listener);
  const { close } = await listening(server);
  return { port: (server.address() as AddressInfo).port, close };
}

/** A handler of node:http that finds its route as `pathOf` reads the request's target. */
function nodeRouter(pathOf: (target: string) => string | null): Router {
  return (route, about, note) => {
    const guard = forNode.tidegate(gateFor(about));
    return serving(
      guard((req: IncomingMessage, res: ServerResponse) => {
        if (reads(pathOf, req.url as string) === route) note(forNode.decisionOf(req));
        res.end();
      }),
    );
  };
}

function reads(pathOf: (target: string) => string | null, target: string): string | null {
  try {
    return pathOf(target);
  } catch {
    return null;
  }
}

/** By default it ignores case. */
function expressApp(): express.Express {
  return express().set("env", "test");
}

function expressRouter(route: string, about: About, note: Note): Promise<Routed> {
  const app = expressApp();
  app.use(forExpress.tidegate(gateFor(about)));
  app.all(route, (req, res) => {
    note(forExpress.decisionOf(req));
    res.end();
  });
  return serving(app);
}

function expressMount(route: string, about: About, note: Note): Promise<Routed> {
  const app = expressApp();
  app.use(forExpress.tidegate(gateFor(about)));
  app.use(route, (req, res) => {
    note(forExpress.decisionOf(req));
    res.end();
  });
  return serving(app);
}

function koaRouter(route: string, about: About, note: Note): Promise<Routed> {
  const app = new Koa();
  app.silent = true;
  app.use(forKoa.tidegate(gateFor(about)));
  app.use((ctx) => {
    if (ctx.path === route) note(forKoa.decisionOf(ctx));
    ctx.body = "";
  });
  return serving(app.callback());
}

function fastifyRouter(options: object): Router {
  return async (route, about, note) => {
    const app = fastify({ ...options, forceCloseConnections: true });
    await app.register(forFastify.tidegate, gateFor(about));
    app.all(route, (request, reply) => {
      note(forFastify.decisionOf(request));
      reply.send("");
    });
    await app.listen({ port: 0, host: "127.0.0.1" });
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
  };
}

/** The usual ways to find a handler for a request. */
export const routers: Record<string, Router> = {
  "node:http, cutting at the query": nodeRouter((target) => target.split("?")[0] as string),
  "node:http, decoding": nodeRouter((target) => decodeURIComponent(target.split("?")[0] as string)),
  "node:http, new URL()": nodeRouter((target) => new URL(target, "http://localhost").pathname),
  "node:http, new URL(), decoding": nodeRouter((target) =>
    decodeURIComponent(new URL(target, "http://localhost").pathname),
  ),
  "node:http, url.parse()": nodeRouter((target) => parse(target).pathname),
  "an Express route": expressRouter,
  "an Express mount": expressMount,
  Koa: koaRouter,
  Fastify: fastifyRouter({}),
  "Fastify, forgiving": fastifyRouter({
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, useSemicolonDelimiter: true },
  }),
};
