import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { one } from "./items.js";
import { active, routes } from "./routes.js";
import { badRequest, limits, newService, notFound, Refusal, type Service, type Version } from "./service.js";

/** Fastly's API for one service, as documented: versions, dictionaries, items, snippets, and every limit on them. */
export interface FastlyFake {
  readonly url: string;
  readonly token: string;
  readonly service: Service;
  /** What was asked, in order: `PATCH /dictionary/<id>/items`, paths below the service. */
  readonly calls: FastlyCall[];
  /** Items of a dictionary of the active version. */
  items(name: string): Map<string, string>;
  /** Puts an item there, as somebody else does. */
  put(name: string, key: string, value: string): void;
  /** Makes dictionaries in the active version, as a set-up does. */
  create(...names: string[]): void;
  /** Keys that spoil every batch they are in. */
  readonly poison: Set<string>;
  /** So many writes are left, for so long. */
  setBudget(budget: { remaining: number; resetInMs?: number }): void;
  /** What the next calls that match meet. */
  fail(fault: FastlyFault): void;
  close(): Promise<void>;
}

export interface FastlyCall {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export interface FastlyFault {
  readonly match?: RegExp;
  /** Default 1. */
  readonly times?: number;
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly delayMs?: number;
  /** The connection breaks: before the work is done, or after it. */
  readonly isReset?: "before" | "after";
}

export interface FastlyFakeOptions {
  readonly writesPerHour?: number;
  readonly maxItems?: number;
  /** Default the real one. */
  readonly clock?: () => number;
}

const hourMs = 3_600_000;

export async function startFastlyFake(options: FastlyFakeOptions = {}): Promise<FastlyFake> {
  const { writesPerHour = 1_000, maxItems = limits.items, clock = Date.now } = options;
  const token = "fake-token-1234567890";
  const service = newService("SU1Z0isxPaozGVKXdv0eY");
  const calls: FastlyCall[] = [];
  const poison = new Set<string>();
  let faults: { fault: FastlyFault; left: number }[] = [];
  let remaining = writesPerHour;
  let resetAt = clock() + hourMs;

  function budgetHeaders(): Record<string, string> {
    return {
      "Fastly-RateLimit-Remaining": String(remaining),
      "Fastly-RateLimit-Reset": String(Math.ceil(resetAt / 1_000)),
    };
  }

  function charge(method: string): void {
    if (clock() >= resetAt) {
      remaining = writesPerHour;
      resetAt = clock() + hourMs;
    }
    if (method === "GET") return;
    if (remaining <= 0) throw new Refusal(429, "Too many requests", "You have reached your API rate limit");
    remaining--;
  }

  function nextFault(what: string): FastlyFault | undefined {
    const found = faults.find(({ fault }) => fault.match?.test(what) ?? true);
    if (found === undefined) return undefined;
    found.left--;
    faults = faults.filter(({ left }) => left > 0);
    return found.fault;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    const { method = "GET" } = request;
    const url = new URL(request.url ?? "/", "http://api");
    if (url.pathname.endsWith("/.well-known/openid-configuration"))
      return send(response, 200, openId(fake.url));
    if (url.pathname === "/canary") {
      const table = [...(active(service)?.dictionaries.keys() ?? [])].find((name) => name.endsWith("_conf"));
      response.end((table && fake.items(table).get("canary")) ?? "0");
      return;
    }
    const [, id, path = ""] = /^\/service\/([^/]+)(.*)$/.exec(url.pathname) ?? [];
    calls.push({ method, path, body });
    const fault = nextFault(`${method} ${path}`);
    if (fault?.delayMs !== undefined) await sleep(fault.delayMs, undefined, { ref: false });
    if (fault?.isReset === "before") return void request.socket.destroy();
    if (fault?.status !== undefined) {
      response.writeHead(fault.status, { ...budgetHeaders(), ...fault.headers });
      response.end(fault.body ?? "{}");
      return;
    }
    try {
      if (request.headers["fastly-key"] !== token)
        throw new Refusal(401, "Provided credentials are missing or invalid", "");
      charge(method);
      if (id !== service.id) throw notFound(`Couldn't find service '${id}'`);
      const reply = await handle(method, path, url.searchParams, request.headers["content-type"] ?? "", body);
      if (fault?.isReset === "after") return void request.socket.destroy();
      send(response, 200, reply.body, { ...budgetHeaders(), ...reply.headers });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      send(response, error.status, { msg: error.msg, detail: error.detail }, budgetHeaders());
    }
  }

  async function handle(method: string, path: string, query: URLSearchParams, type: string, body: string) {
    for (const [verb, shape, handler] of routes) {
      const parts = verb === method ? shape.exec(path) : null;
      if (parts === null) continue;
      const call = {
        service,
        query,
        poison,
        maxItems,
        form: () => {
          if (body !== "" && !type.startsWith("application/x-www-form-urlencoded"))
            throw badRequest("not a form");
          return new URLSearchParams(body);
        },
        json: () => {
          if (!type.startsWith("application/json")) throw badRequest("not JSON");
          try {
            return JSON.parse(body);
          } catch {
            throw badRequest("not JSON");
          }
        },
      };
      return handler(call, ...parts.slice(1).map(decodeURIComponent));
    }
    throw notFound(`no ${method} ${path}`);
  }

  const serving = (): Version => active(service) as Version;
  const dictionary = (name: string) => {
    const found = service.dictionaries.get(serving().dictionaries.get(name)?.id ?? "");
    if (found === undefined) throw new Error(`the fake has no dictionary ${name}`);
    return found;
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      send(response, 500, { msg: "the fake failed", detail: String(error) });
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));

  const fake: FastlyFake = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    service,
    calls,
    poison,
    items: (name) => new Map([...dictionary(name).items].map(([key, { value }]) => [key, value])),
    put: (name, key, value) =>
      one(dictionary(name), { op: "upsert", item_key: key, item_value: value }, maxItems),
    create(...names) {
      for (const name of names) {
        const id = `${name}${Math.random().toString(36).slice(2)}`.replace(/\W/g, "").slice(0, 40);
        service.dictionaries.set(id, { id, items: new Map(), updatedAt: new Date().toISOString() });
        serving().dictionaries.set(name, { id, isWriteOnly: false });
      }
    },
    setBudget(budget) {
      remaining = budget.remaining;
      resetAt = clock() + (budget.resetInMs ?? hourMs);
    },
    fail: (fault) => void faults.push({ fault, left: fault.times ?? 1 }),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return fake;
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** What the CLI asks before anything else. */
function openId(url: string): object {
  const paths = {
    authorization_endpoint: "/auth",
    token_endpoint: "/token",
    jwks_uri: "/certs",
    userinfo_endpoint: "/me",
  };
  return {
    issuer: url,
    ...Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, url + path])),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) text += part;
  return text;
}
