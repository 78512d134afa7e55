import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { clientResolver, peerTest } from "tidegate/http";
import { parsePolicy } from "../config/parse-policy.js";
import type { Settings } from "../settings.js";
import { version } from "../version.js";
import { openAccess } from "./access/access.js";
import { anybody } from "./access/caller.js";
import { ApiProblem, notFound } from "./api-problem.js";
import { dashboardFiles } from "./dashboard-files.js";
import { failureOf } from "./failure.js";
import type { AdminParts, Answer, Ask } from "./handler.js";
import { readBody } from "./read-body.js";
import { type Route, routes } from "./routes.js";
import { turns } from "./turns.js";
import { undoneEntries } from "./undo/undone-entries.js";
import { whoActs } from "./who.js";

export interface AdminOptions
  extends Pick<
    AdminParts,
    | "gate"
    | "data"
    | "keeper"
    | "customers"
    | "desk"
    | "refusal"
    | "release"
    | "refused"
    | "rehearsal"
    | "live"
    | "registry"
    | "log"
    | "status"
  > {
  readonly settings: Pick<Settings, "admin"> & Partial<Pick<Settings, "trustedProxies" | "clientIpHeader">>;
  /** Default the gate's own; with workers, of all together. */
  readonly busiest?: AdminParts["busiest"];
  /** Default nobody. */
  readonly seen?: AdminParts["seen"];
  /** Default nobody. */
  readonly holds?: AdminParts["holds"];
  /** Default: whether one of `trustedProxies` is the address itself, or has it. */
  readonly isProxy?: AdminParts["isProxy"];
  /** Default the registry's own; with workers, everybody's. */
  readonly metricsText?: () => Promise<string>;
  /** Throws what is wrong with a policy's text. Default: what the text alone shows. */
  readonly validate?: (text: string) => unknown;
  /** For tests of sessions and tokens. Default the system's. */
  readonly clock?: () => number;
}

export interface AdminApi {
  handle(req: IncomingMessage, res: ServerResponse): void;
  /** A code that logs a browser in once; undefined when somebody has a token to do that with. */
  firstCode(): Promise<string | undefined>;
}

type Env = { Bindings: HttpBindings };

/** What people and their tools ask the server, over HTTP. The table of routes is all there is. */
export function adminApi(options: AdminOptions): AdminApi {
  const { gate, registry, log } = options;
  const { trustedProxies = [], clientIpHeader } = options.settings;
  const clientOf = clientResolver({ trustedProxies, ...(clientIpHeader && { clientIpHeader }) });
  const access = openAccess(options);
  let document: Promise<unknown> | undefined;
  const parts: AdminParts = {
    ...options,
    access,
    validate: options.validate ?? parsePolicy,
    metricsText: options.metricsText ?? (() => registry.metrics()),
    busiest: options.busiest ?? gate.busiest,
    seen: options.seen ?? (async () => []),
    holds: options.holds ?? (async () => []),
    isProxy: options.isProxy ?? peerTest(trustedProxies),
    openapi: () => {
      // It takes its time to load, and few ask.
      document ??= import("./openapi/document.js").then((it) => it.openapiDocument(routes, version()));
      return document;
    },
    turn: turns(),
    undone: undoneEntries(options.data.audit),
  };

  async function answer(c: Context<Env>, { handle, role = "admin", isOpen }: Route): Promise<Response> {
    const { incoming } = c.env;
    const caller = isOpen === true ? anybody : await access.check(incoming, role);
    const ask: Ask = {
      req: incoming,
      caller,
      res: c.env.outgoing as ServerResponse,
      param: (name) => c.req.param(name) ?? "",
      query: c.req.query(),
      body: () => readBody(incoming),
      peer: () => clientOf(incoming.socket.remoteAddress, (name) => headerOf(incoming, name)) || undefined,
      who: () => whoActs(incoming, caller),
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
  const dashboardFile = dashboardFiles();
  for (const path of ["/", "/assets/:file"])
    app.get(path, (c) => dashboardFile(c.req.path, c.req.header("accept-encoding")) ?? c.notFound());
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
    async firstCode() {
      if (access.hasOwnToken || (await options.data.tokens.list()).length > 0) return undefined;
      return (await access.makeCode({ role: "admin" })).code;
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
  ["Cross-Origin-Opener-Policy", "same-origin"],
] as const;

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

function methodsByPath(): Map<string, string> {
  const found = new Map<string, string>();
  for (const { method, path } of routes)
    found.set(path, [found.get(path), method].filter(Boolean).join(", "));
  return found;
}

function responseOf({ status = 200, body, type, etag, isSent, headers }: Answer): Response {
  if (isSent === true) return RESPONSE_ALREADY_SENT;
  const sent = body instanceof ReadableStream ? body : String(body);
  return new Response(type === undefined ? JSON.stringify(body) : sent, {
    status,
    headers: {
      ...headers,
      "Content-Type": type ?? "application/json",
      ...(etag !== undefined && { ETag: etag }),
    },
  });
}

function problemResponse({ answer, headers }: ApiProblem): Response {
  return new Response(JSON.stringify(answer), {
    status: answer.status,
    headers: { ...headers, "Content-Type": "application/problem+json" },
  });
}
