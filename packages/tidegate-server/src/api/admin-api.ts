import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { parsePolicy } from "../config/parse-policy.js";
import type { Settings } from "../settings.js";
import { ApiProblem, notFound } from "./api-problem.js";
import { failureOf } from "./failure.js";
import type { AdminParts, Answer, Ask } from "./handler.js";
import { readBody } from "./read-body.js";
import { type Route, routes } from "./routes.js";
import { tokenCheck } from "./token-check.js";
import { whoActs } from "./who.js";

export interface AdminOptions
  extends Pick<
    AdminParts,
    "gate" | "data" | "keeper" | "customers" | "desk" | "refusal" | "registry" | "log" | "status"
  > {
  readonly settings: Pick<Settings, "admin">;
  /** Default the gate's own; with workers, of all together. */
  readonly busiest?: AdminParts["busiest"];
  /** Default the registry's own; with workers, everybody's. */
  readonly metricsText?: () => Promise<string>;
  /** Throws what is wrong with a policy's text. Default: what the text alone shows. */
  readonly validate?: (text: string) => unknown;
}

export interface AdminApi {
  handle(req: IncomingMessage, res: ServerResponse): void;
}

type Env = { Bindings: HttpBindings };

/** What people and their tools ask the server, over HTTP. The table of routes is all there is. */
export function adminApi(options: AdminOptions): AdminApi {
  const { settings, gate, registry, log } = options;
  const checkToken = tokenCheck(settings.admin.token);
  const parts: AdminParts = {
    ...options,
    validate: options.validate ?? parsePolicy,
    metricsText: options.metricsText ?? (() => registry.metrics()),
    busiest: options.busiest ?? gate.busiest,
  };

  async function answer(c: Context<Env>, { handle, isOpen }: Route): Promise<Response> {
    const { incoming } = c.env;
    if (isOpen !== true) await checkToken(incoming);
    const ask: Ask = {
      req: incoming,
      param: (name) => c.req.param(name) ?? "",
      query: c.req.query(),
      body: () => readBody(incoming),
      who: () => whoActs(incoming),
    };
    return responseOf(await handle(parts, ask));
  }

  const app = new Hono<Env>();
  for (const route of routes) app.on(route.method, route.path, (c) => answer(c, route));
  for (const [path, methods] of methodsByPath()) {
    app.all(path, () => {
      throw new ApiProblem(
        { status: 405, code: "TG_METHOD", detail: `Here one can only ${methods}.` },
        { Allow: methods },
      );
    });
  }
  app.notFound(() =>
    problemResponse(notFound("There is nothing here.", "See docs/server/api.md for what there is.")),
  );
  app.onError((error, c) =>
    problemResponse(failureOf(error, log, { method: c.req.method, path: c.req.path })),
  );
  const listener = getRequestListener(app.fetch as Parameters<typeof getRequestListener>[0], {
    overrideGlobalObjects: false,
    errorHandler: (error) =>
      problemResponse(
        error instanceof Error && error.name === "RequestError"
          ? new ApiProblem({
              status: 400,
              code: "TG_REQUEST",
              detail: "The request's target can not be read.",
            })
          : failureOf(error, log, { method: "", path: "" }),
      ),
  });

  return {
    handle(req, res) {
      for (const [name, value] of securityHeaders) res.setHeader(name, value);
      void listener(req, res);
    },
  };
}

const securityHeaders = [
  ["X-Content-Type-Options", "nosniff"],
  ["Cache-Control", "no-store"],
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
  ["X-Frame-Options", "DENY"],
  ["Referrer-Policy", "no-referrer"],
  ["Cross-Origin-Resource-Policy", "same-origin"],
] as const;

function methodsByPath(): Map<string, string> {
  const found = new Map<string, string>();
  for (const { method, path } of routes)
    found.set(path, [found.get(path), method].filter(Boolean).join(", "));
  return found;
}

function responseOf({ status = 200, body, type }: Answer): Response {
  return new Response(type === undefined ? JSON.stringify(body) : String(body), {
    status,
    headers: { "Content-Type": type ?? "application/json" },
  });
}

function problemResponse({ answer, headers }: ApiProblem): Response {
  return new Response(JSON.stringify(answer), {
    status: answer.status,
    headers: { ...headers, "Content-Type": "application/problem+json" },
  });
}
