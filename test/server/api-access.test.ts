import { createHash } from "node:crypto";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { createClient } from "@redis/client";
import { memoryDirectory } from "tidegate";
import { afterEach, describe, expect, inject, it, onTestFinished } from "vitest";
import { routes } from "../../packages/tidegate-server/src/api/routes.js";
import { openEmbeddedData } from "../../packages/tidegate-server/src/data/embedded-data.js";
import { openRedisData } from "../../packages/tidegate-server/src/data/redis-data.js";
import { type Data, type Role, roles } from "../../packages/tidegate-server/src/data.js";
import { soon } from "../directory/support.js";
import { faultProxy, startRedis } from "../servers/index.js";
import { type Admin, startAdmin } from "./api-serving.js";
import { eventually, temporaryFolder } from "./running.js";

const started: Admin[] = [];
afterEach(async () => {
  for (const admin of started.splice(0)) await admin.close();
});

async function start(options: Parameters<typeof startAdmin>[0] = {}): Promise<Admin> {
  const admin = await startAdmin(options);
  started.push(admin);
  return admin;
}

interface Asking {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** Where the request comes from. */
  readonly from?: string;
  readonly agent?: Agent;
}

/** One request from an address of its own. Of an answer that goes on only the head is waited for. */
async function ask({ port }: Admin, method: string, path: string, asking: Asking = {}) {
  const { body, headers = {}, from = "127.0.0.1", agent = false } = asking;
  const req = request({
    host: "127.0.0.1",
    port,
    method,
    path,
    headers,
    localAddress: from,
    ...(agent && { agent }),
  });
  req.end(body === undefined ? undefined : JSON.stringify(body));
  const [res] = (await once(req, "response")) as [IncomingMessage];
  let text = "";
  if (/event-stream/.test(res.headers["content-type"] ?? "")) res.destroy();
  else for await (const piece of res) text += piece;
  const json = /json/.test(res.headers["content-type"] ?? "") ? JSON.parse(text) : undefined;
  return { status: res.statusCode as number, headers: res.headers, text, json };
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

let addresses = 0;
/** An address nobody guessed from yet. */
const newAddress = (): string => `127.1.${(++addresses >> 8) & 255}.${addresses & 255}`;

/** A token as people get it. */
async function made(admin: Admin, name: string, role: Role, by: Record<string, string> = {}) {
  const { status, json } = await ask(admin, "POST", "/v1/tokens", { body: { name, role }, headers: by });
  expect([status, json]).toMatchObject([201, { token: { name, role } }]);
  return json.secret as string;
}

interface Browser {
  readonly cookie: string;
  readonly csrf: string;
  /** What a page served from here sends. */
  readonly headers: Record<string, string>;
}

function browserOf(admin: Admin, { json, headers }: Awaited<ReturnType<typeof ask>>): Browser {
  const cookie = headers["set-cookie"]?.[0]?.split(";", 1)[0] as string;
  const { csrf } = json;
  return {
    cookie,
    csrf,
    headers: { cookie, "tidegate-csrf": csrf, origin: admin.url, "sec-fetch-site": "same-origin" },
  };
}

async function loggedIn(admin: Admin, body: { token: string } | { code: string }): Promise<Browser> {
  const reply = await ask(admin, "POST", "/v1/login", { body, headers: { origin: admin.url } });
  expect([reply.status, reply.json]).toMatchObject([200, {}]);
  return browserOf(admin, reply);
}

const codeOf = async (admin: Admin, by: Record<string, string> = {}): Promise<string> =>
  (await ask(admin, "POST", "/v1/login-codes", { headers: by })).json.code;

const isIn = async (admin: Admin, { headers }: Pick<Browser, "headers">): Promise<number> =>
  (await ask(admin, "GET", "/v1/session", { headers })).status;

describe("the permission matrix", () => {
  it("has a role for every route that is not open", () => {
    for (const { path, method, role, isOpen } of routes)
      expect([method, path, isOpen === true || roles.includes(role as Role)]).toEqual([method, path, true]);
    expect(routes.filter(({ isOpen }) => isOpen).map(({ path }) => path)).toEqual(
      expect.arrayContaining(["/health", "/ready", "/v1/login"]),
    );
  });

  it("lets each role do what the table says, with a token or a session, and nobody else anything", async () => {
    let now = Date.now();
    const admin = await start({ token: "s3cret-of-settings", clock: () => now });
    const root = bearer("s3cret-of-settings");
    const secrets: Record<string, string> = {};
    for (const role of roles) secrets[role] = await made(admin, role, role, root);
    for (const name of ["revoked", "bygone"]) secrets[name] = await made(admin, name, "admin", root);
    secrets.expired = "tg_expired-long-ago";
    const digest = createHash("sha256").update(secrets.expired).digest("hex");
    const until = now + 1;
    await admin.data.tokens.add({ name: "expired", role: "admin", createdBy: "ann", until }, digest);
    const outdated = [
      await loggedIn(admin, { token: secrets.expired }),
      await loggedIn(admin, { token: secrets.bygone as string }),
    ];
    for (const name of ["revoked", "bygone"])
      expect((await ask(admin, "DELETE", `/v1/tokens/${name}`, { headers: root })).status).toBe(200);
    now += 1_000;

    const callers: [who: string, role: Role | undefined, headers: () => Promise<Record<string, string>>][] = [
      ["nobody", undefined, async () => ({})],
      ["a browser without a session", undefined, async () => ({ origin: admin.url })],
      ["a wrong token", undefined, async () => bearer("tg_wrong")],
      ["an expired token", undefined, async () => bearer(secrets.expired as string)],
      ["a revoked token", undefined, async () => bearer(secrets.revoked as string)],
      ["the session of an expired token", undefined, async () => outdated[0]?.headers ?? {}],
      ["the session of a revoked token", undefined, async () => outdated[1]?.headers ?? {}],
      ["the settings' token", "admin", async () => root],
      ...roles.map((role): (typeof callers)[number] => [
        role,
        role,
        async () => bearer(secrets[role] as string),
      ]),
      ...roles.map((role): (typeof callers)[number] => [
        `a session of ${role}`,
        role,
        async () => (await loggedIn(admin, { token: secrets[role] as string })).headers,
      ]),
    ];
    for (const { method, path, role: needed, isOpen } of routes)
      for (const [who, role, headersOf] of callers) {
        const reply = await ask(admin, method, path, { headers: await headersOf(), from: newAddress() });
        const told = [method, path, who, reply.json?.code === "TG_ROLE" ? 403 : reply.status];
        if (isOpen) expect(told).not.toEqual([method, path, who, 401]);
        else if (role === undefined) {
          expect(told).toEqual([method, path, who, 401]);
          expect(reply.json.code).toBe("TG_ADMIN_TOKEN");
          expect(reply.headers["www-authenticate"]).toBe("Bearer");
        } else if (roles.indexOf(role) < roles.indexOf(needed as Role)) {
          expect(told).toEqual([method, path, who, 403]);
          expect(reply.json.detail).toBe(`This takes the role ${needed}, and yours is ${role}.`);
        } else {
          expect([method, path, who, told[3] === 401 || told[3] === 403]).toEqual([method, path, who, false]);
        }
      }
  }, 120_000);
});

describe("without any token", () => {
  it("programs on this machine may do everything, and browsers nothing", async () => {
    const admin = await start();
    expect((await ask(admin, "GET", "/v1/session")).json).toEqual({
      role: "admin",
      name: null,
      until: null,
      csrf: null,
    });
    // node's fetch sends Sec-Fetch-Mode, as a program.
    expect((await admin.ask("GET", "/v1/status")).status).toBe(200);
    for (const headers of [
      { origin: admin.url },
      { "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none", "sec-fetch-dest": "document" },
    ] as Record<string, string>[])
      expect(await ask(admin, "GET", "/v1/status", { headers })).toMatchObject({
        status: 401,
        json: { code: "TG_ADMIN_TOKEN", detail: "Log in first." },
      });
  });

  it("the first one made closes the house to whoever has none, and the last one revoked opens it again", async () => {
    const admin = await start();
    const ann = bearer(await made(admin, "ann", "admin"));
    expect((await ask(admin, "GET", "/v1/status")).status).toBe(401);
    expect((await ask(admin, "GET", "/v1/status", { headers: ann })).status).toBe(200);
    expect((await ask(admin, "DELETE", "/v1/tokens/ann", { headers: ann })).status).toBe(200);
    expect((await ask(admin, "GET", "/v1/status", { headers: ann })).status).toBe(401);
    expect((await ask(admin, "GET", "/v1/status")).status).toBe(200);
  });

  it("the first must be an admin's, and the last admin's can not be revoked before the others", async () => {
    const admin = await start();
    const guarded = { status: 409, json: { code: "TG_GUARD" } };
    expect(await ask(admin, "POST", "/v1/tokens", { body: { name: "eva", role: "operator" } })).toMatchObject(
      guarded,
    );
    expect((await ask(admin, "GET", "/v1/status")).status).toBe(200);
    const headers = bearer(await made(admin, "ann", "admin"));
    await made(admin, "eva", "viewer", headers);
    expect(await ask(admin, "DELETE", "/v1/tokens/ann", { headers })).toMatchObject(guarded);
    expect((await ask(admin, "DELETE", "/v1/tokens/eva", { headers })).status).toBe(200);
    expect((await ask(admin, "DELETE", "/v1/tokens/ann", { headers })).status).toBe(200);
  });
});

describe("a named token", () => {
  it("is told once, and kept nowhere but as its digest", async () => {
    const folder = temporaryFolder();
    const admin = await start({ openData: () => openEmbeddedData(folder) });
    const secret = await made(admin, "ann", "admin");
    expect(secret).toMatch(/^tg_[\w-]{43}$/);
    const headers = bearer(secret);
    const texts = [];
    for (const path of ["/v1/tokens", "/v1/audit", "/v1/status", "/v1/session"])
      texts.push((await ask(admin, "GET", path, { headers })).text);
    const { readFileSync, readdirSync } = await import("node:fs");
    for (const file of readdirSync(folder)) texts.push(readFileSync(`${folder}/${file}`, "latin1"));
    const all = texts.join("\n") + JSON.stringify(admin.lines);
    expect(all).not.toContain(secret);
    expect(all).not.toContain(secret.slice(3));
    expect(all).toContain(createHash("sha256").update(secret).digest("hex"));
  });

  it("is listed with who made it, its role, its end and its last use, to the minute", async () => {
    const admin = await start();
    const headers = bearer(await made(admin, "ann", "admin", { "tidegate-who": "root" }));
    const body = { name: "Eva Müller", role: "operator", for: "30d" };
    const { json } = await ask(admin, "POST", "/v1/tokens", { body, headers });
    const inAMonth = Date.now() + 30 * 86_400_000;
    expect(Math.abs(json.token.until - inAMonth)).toBeLessThan(600_000);
    await ask(admin, "GET", "/v1/status", { headers: bearer(json.secret) });
    const { tokens } = (await ask(admin, "GET", "/v1/tokens", { headers })).json;
    expect(tokens).toMatchObject([
      { name: "ann", role: "admin", createdBy: "root" },
      { name: "Eva Müller", role: "operator", createdBy: "token:ann", until: json.token.until },
    ]);
    for (const { lastUsedAt } of tokens) {
      expect(lastUsedAt % 60_000).toBe(0);
      expect(Math.abs(Date.now() - lastUsedAt)).toBeLessThan(600_000);
    }
  });

  it("that can not be is refused with the place and the words", async () => {
    const admin = await start({ token: "s3cret-of-settings" });
    const headers = bearer("s3cret-of-settings");
    await made(admin, "ann", "viewer", headers);
    const bad: [body: unknown, status: number, code: string, path: string][] = [
      [{ name: "ann", role: "viewer" }, 409, "TG_TOKEN_NAME", "body.name"],
      [{ name: "", role: "viewer" }, 400, "TG_REQUEST", "body.name"],
      [{ name: "1ann", role: "viewer" }, 400, "TG_REQUEST", "body.name"],
      [{ name: "ann\n", role: "viewer" }, 400, "TG_REQUEST", "body.name"],
      [{ name: "a".repeat(41), role: "viewer" }, 400, "TG_REQUEST", "body.name"],
      [{ name: "abcdefabcdef", role: "viewer" }, 400, "TG_REQUEST", "body.name"],
      [{ name: "<b>", role: "viewer" }, 400, "TG_REQUEST", "body.name"],
      [{ name: "eva", role: "root" }, 400, "TG_REQUEST", "body.role"],
      [{ name: "eva" }, 400, "TG_REQUEST", "body.role"],
      [{ name: "eva", role: "viewer", for: "soon" }, 400, "TG_DURATION", "body.for"],
      [{ name: "eva", role: "viewer", id: "x" }, 400, "TG_REQUEST", "body"],
    ];
    for (const [body, status, code, path] of bad)
      expect([body, await ask(admin, "POST", "/v1/tokens", { body, headers })]).toMatchObject([
        body,
        { status, json: { code, path } },
      ]);
    expect(await ask(admin, "DELETE", "/v1/tokens/nobody", { headers })).toMatchObject({
      status: 404,
      json: { code: "TG_NOT_FOUND" },
    });
    expect(await admin.data.tokens.list()).toHaveLength(1);
  });

  it("gives its name to the audit, whatever its holder says; and nobody else can take that name", async () => {
    const admin = await start();
    const eva = bearer(await made(admin, "ann", "admin"));
    const path = "/v1/lists/blocklist/203.0.113.7";
    const headers = { ...eva, "tidegate-who": "somebody else" };
    expect((await ask(admin, "PUT", path, { body: {}, headers })).status).toBe(201);
    const browser = await loggedIn(admin, { token: eva.authorization?.slice(7) as string });
    expect((await ask(admin, "DELETE", path, { headers: browser.headers })).status).toBe(200);
    const { entries } = (await ask(admin, "GET", "/v1/audit", { headers: eva })).json;
    const acts = entries.map(({ who, what }: Record<string, string>) => [what, who]);
    expect(acts).toEqual(
      expect.arrayContaining([
        ["blocklist.add", "token:ann"],
        ["blocklist.remove", "token:ann"],
        ["token.create", "api"],
      ]),
    );
    const other = await start();
    for (const who of ["token:ann", "Token:ann", " token:ann"])
      expect(await ask(other, "PUT", path, { body: {}, headers: { "tidegate-who": who } })).toMatchObject({
        status: 400,
        json: { path: "Tidegate-Who" },
      });
  });

  it("that has ended is told so", async () => {
    let now = Date.now();
    const admin = await start({ clock: () => now });
    const body = { name: "ann", role: "admin", for: "1h" };
    const { secret } = (await ask(admin, "POST", "/v1/tokens", { body })).json;
    expect((await ask(admin, "GET", "/v1/status", { headers: bearer(secret) })).status).toBe(200);
    now += 3_700_000;
    expect(await ask(admin, "GET", "/v1/status", { headers: bearer(secret) })).toMatchObject({
      status: 401,
      json: { detail: "This token has ended." },
    });
    expect((await ask(admin, "GET", "/v1/status")).status).toBe(401);
  });
});

describe("guessing", () => {
  it("of a thousand at once twenty are heard, and the right token always", async () => {
    const admin = await start();
    const right = await made(admin, "ann", "admin");
    const agent = new Agent({ keepAlive: true, maxSockets: 100 });
    onTestFinished(() => agent.destroy());
    const guess = (token: string) =>
      ask(admin, "GET", "/v1/session", { headers: bearer(token), agent, from: "127.0.0.9" });
    const replies = await Promise.all(
      Array.from({ length: 1_000 }, (_, i) => guess(i === 700 ? right : `tg_${i}`)),
    );
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(20);
    const unheard = replies.filter(({ status }) => status === 429);
    expect(unheard).toHaveLength(979);
    expect(replies[700]?.status).toBe(200);
    expect(unheard[0]?.json.code).toBe("TG_ADMIN_TOKEN");
    expect(Number(unheard[0]?.headers["retry-after"])).toBeGreaterThan(0);
    expect((await guess(right)).status).toBe(200);
    expect((await guess("tg_1")).status).toBe(429);
  });

  it("a token so short that it could be guessed is not heard beside a thousand others, nor after them", async () => {
    const token = "s3cret-of-15-ch";
    const admin = await start({ token });
    const agent = new Agent({ keepAlive: true, maxSockets: 100 });
    onTestFinished(() => agent.destroy());
    const guess = (token: string, from = "127.0.0.9") =>
      ask(admin, "GET", "/v1/session", { headers: bearer(token), agent, from });
    const replies = await Promise.all(
      Array.from({ length: 1_000 }, (_, i) => guess(i === 700 ? token : `tg_${i}`)),
    );
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(20);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(980);
    expect((await guess(token)).status).toBe(429);
    expect((await guess(token, newAddress())).status).toBe(200);
  });

  it("counts tokens, logins and codes together", async () => {
    const admin = await start({ token: "s3cret-of-settings" });
    const from = newAddress();
    const tries = [
      () => ask(admin, "GET", "/v1/session", { headers: bearer("tg_no"), from }),
      () => ask(admin, "POST", "/v1/login", { body: { token: "tg_no" }, from }),
      () => ask(admin, "POST", "/v1/login", { body: { code: "no" }, from }),
    ];
    for (let i = 0; i < 20; i++)
      expect(await tries[i % 3]?.()).toMatchObject({ status: 401, json: { code: "TG_ADMIN_TOKEN" } });
    for (const again of tries) expect((await again()).status).toBe(429);
    const token = "s3cret-of-settings";
    expect((await ask(admin, "POST", "/v1/login", { body: { token }, from })).status).toBe(200);
    const { json } = await ask(admin, "POST", "/v1/login-codes", { headers: bearer(token), from });
    const login = () => ask(admin, "POST", "/v1/login", { body: { code: json.code }, from });
    expect((await login()).status).toBe(200);
    expect((await login()).status).toBe(429);
  });

  it("is not what many right requests at once are, nor what a browser with an ended session does", async () => {
    const admin = await start();
    const headers = bearer(await made(admin, "ann", "admin"));
    const agent = new Agent({ keepAlive: true, maxSockets: 60 });
    onTestFinished(() => agent.destroy());
    const many = await Promise.all(
      Array.from({ length: 200 }, () => ask(admin, "GET", "/v1/session", { headers, agent })),
    );
    expect(many.filter(({ status }) => status !== 200)).toEqual([]);
    const ended = { cookie: `tidegate_session=${"x".repeat(43)}`, origin: admin.url };
    for (let i = 0; i < 40; i++)
      expect((await ask(admin, "GET", "/v1/session", { headers: ended })).status).toBe(401);
    expect((await ask(admin, "GET", "/v1/session", { headers })).status).toBe(200);
  });
});

describe("a session", () => {
  const token = "s3cret-of-settings";

  it("is a cookie no script can read and no other site can send, for twelve hours", async () => {
    const admin = await start({ token });
    const reply = await ask(admin, "POST", "/v1/login", { body: { token } });
    expect(reply).toMatchObject({ status: 200, json: { role: "admin", name: null } });
    expect(reply.headers["set-cookie"]).toEqual([
      expect.stringMatching(
        /^tidegate_session=[\w-]{43}; Path=\/; Max-Age=4\d{4}; HttpOnly; SameSite=Strict$/,
      ),
    ]);
    expect(Math.abs(reply.json.until - Date.now() - 43_200_000)).toBeLessThan(600_000);
    const { headers, csrf } = browserOf(admin, reply);
    expect((await ask(admin, "GET", "/v1/session", { headers })).json).toEqual({
      role: "admin",
      name: null,
      until: reply.json.until,
      csrf,
    });
    expect(reply.text).not.toContain(headers.cookie?.split("=")[1]);
  });

  it("is Secure where the browser came by https, and a stranger's word on that is not believed", async () => {
    const admin = await start({ token });
    const isSecure = async (headers: Record<string, string>) =>
      /; Secure/.test(
        (await ask(admin, "POST", "/v1/login", { body: { token }, headers })).headers["set-cookie"]?.[0] ??
          "",
      );
    expect(await isSecure({ host: "127.0.0.1", origin: "https://127.0.0.1" })).toBe(true);
    expect(await isSecure({ origin: admin.url })).toBe(false);
    expect(await isSecure({ "x-forwarded-proto": "https" })).toBe(false);
    const behind = await start({ token, trustedProxies: ["loopback"] });
    const told = { "x-forwarded-proto": "https" };
    const { headers } = await ask(behind, "POST", "/v1/login", { body: { token }, headers: told });
    expect(headers["set-cookie"]?.[0]).toMatch(/; Secure$/);
  });

  it("changes nothing without its own value in Tidegate-Csrf", async () => {
    const admin = await start({ token });
    const { headers } = await loggedIn(admin, { token });
    const other = await loggedIn(admin, { token });
    const path = "/v1/lists/blocklist/203.0.113.7";
    for (const csrf of [undefined, "", "x", other.csrf]) {
      const { "tidegate-csrf": _, ...without } = headers;
      const sent = { ...without, ...(csrf !== undefined && { "tidegate-csrf": csrf }) };
      expect(await ask(admin, "PUT", path, { body: {}, headers: sent })).toMatchObject({
        status: 403,
        json: { code: "TG_CSRF" },
      });
      expect((await ask(admin, "POST", "/v1/logout", { headers: sent })).json.code).toBe("TG_CSRF");
      expect((await ask(admin, "GET", "/v1/lists/blocklist", { headers: sent })).json.entries).toEqual([]);
    }
    expect((await ask(admin, "PUT", path, { body: {}, headers })).status).toBe(201);
  });

  it("is not taken from pages of other origins, whether they write or read", async () => {
    const admin = await start({ token });
    const { headers } = await loggedIn(admin, { token });
    const foreign: Record<string, string>[] = [
      { ...headers, origin: "http://evil.example" },
      { ...headers, origin: "null" },
      { ...headers, origin: "http://127.0.0.1:1" },
      { ...headers, "sec-fetch-site": "cross-site" },
      { ...headers, "sec-fetch-site": "same-site" },
    ];
    for (const sent of foreign)
      for (const method of ["GET", "PUT"])
        expect(await ask(admin, method, "/v1/lists/blocklist/203.0.113.7", { headers: sent })).toMatchObject({
          status: 403,
          json: { code: "TG_ORIGIN" },
        });
    expect(await isIn(admin, { headers })).toBe(200);
  });

  it("is always a new one: what a browser brought before is not taken over, and ends", async () => {
    const admin = await start({ token });
    const planted = `tidegate_session=${"A".repeat(43)}`;
    const reply = await ask(admin, "POST", "/v1/login", { body: { token }, headers: { cookie: planted } });
    const first = browserOf(admin, reply);
    expect(first.cookie).not.toBe(planted);
    expect(await isIn(admin, { headers: { cookie: planted } })).toBe(401);
    const second = browserOf(
      admin,
      await ask(admin, "POST", "/v1/login", { body: { token }, headers: { cookie: first.cookie } }),
    );
    expect(second.cookie).not.toBe(first.cookie);
    expect(await isIn(admin, first)).toBe(401);
    expect(await isIn(admin, second)).toBe(200);
    expect(await isIn(admin, { headers: { cookie: `${second.cookie}; ${planted}` } })).toBe(401);
  });

  it("ends when one logs out, and the cookie goes with it", async () => {
    const admin = await start({ token });
    const browser = await loggedIn(admin, { token });
    const other = await loggedIn(admin, { token });
    const { status, headers } = await ask(admin, "POST", "/v1/logout", { headers: browser.headers });
    expect(status).toBe(200);
    expect(headers["set-cookie"]?.[0]).toMatch(/^tidegate_session=; Path=\/; Max-Age=0;/);
    expect(await isIn(admin, browser)).toBe(401);
    expect(await isIn(admin, other)).toBe(200);
  });

  it("ends after twelve hours, or with its token if that ends earlier", async () => {
    let now = Date.now();
    const admin = await start({ token, clock: () => now });
    const body = { name: "eva", role: "viewer", for: "1h" };
    const { secret } = (await ask(admin, "POST", "/v1/tokens", { body, headers: bearer(token) })).json;
    const [long, brief] = [await loggedIn(admin, { token }), await loggedIn(admin, { token: secret })];
    now += 3_700_000;
    expect([await isIn(admin, long), await isIn(admin, brief)]).toEqual([200, 401]);
    now += 11 * 3_600_000;
    expect(await isIn(admin, long)).toBe(401);
  });

  it("ends with its token: when that is revoked, or is another one in the settings", async () => {
    const folder = temporaryFolder();
    const openData = () => openEmbeddedData(folder);
    const admin = await start({ token, openData });
    const headers = bearer(token);
    const eva = await loggedIn(admin, { token: await made(admin, "eva", "operator", headers) });
    const bob = await loggedIn(admin, { token: await made(admin, "bob", "operator", headers) });
    const root = await loggedIn(admin, { token });
    expect(await isIn(admin, eva)).toBe(200);
    expect((await ask(admin, "DELETE", "/v1/tokens/eva", { headers })).status).toBe(200);
    expect([await isIn(admin, eva), await isIn(admin, bob)]).toEqual([401, 200]);
    await started.pop()?.close();
    const next = await start({ token: "another-of-settings", openData });
    const at = ({ headers: { cookie = "" } }: Browser) => ({ headers: { cookie } });
    expect([await isIn(next, at(root)), await isIn(next, at(bob))]).toEqual([401, 200]);
  });

  it("and a token outlive a restart", async () => {
    const folder = temporaryFolder();
    const openData = () => openEmbeddedData(folder);
    const admin = await start({ openData });
    const secret = await made(admin, "ann", "admin");
    const { cookie } = await loggedIn(admin, { token: secret });
    await started.pop()?.close();
    const next = await start({ openData });
    expect((await ask(next, "GET", "/v1/session", { headers: bearer(secret) })).json.name).toBe("ann");
    expect((await ask(next, "GET", "/v1/session", { headers: { cookie } })).json.name).toBe("ann");
    expect((await ask(next, "GET", "/v1/session")).status).toBe(401);
  });

  it("needs a token or a code, one of them", async () => {
    const admin = await start({ token });
    for (const body of [
      undefined,
      {},
      { token, code: "x" },
      { token: 1 },
      { token: "" },
      { password: "x" },
      [],
    ])
      expect(await ask(admin, "POST", "/v1/login", { body })).toMatchObject({
        status: 400,
        json: { code: "TG_REQUEST" },
      });
  });
});

describe("a one-time code", () => {
  it("logs in once, of many that try at once one, as whoever made it", async () => {
    const admin = await start();
    const headers = bearer(await made(admin, "ann", "admin"));
    const code = await codeOf(admin, headers);
    const replies = await Promise.all(
      Array.from({ length: 15 }, () => ask(admin, "POST", "/v1/login", { body: { code } })),
    );
    const [one, ...more] = replies.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    expect(one?.json).toMatchObject({ role: "admin", name: "ann" });
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(14);
  });

  it("ends after ten minutes", async () => {
    let now = Date.now();
    const admin = await start({ clock: () => now });
    const codes = [await codeOf(admin), await codeOf(admin)];
    now += 599_000;
    await loggedIn(admin, { code: codes[0] as string });
    now += 2_000;
    expect(await ask(admin, "POST", "/v1/login", { body: { code: codes[1] } })).toMatchObject({
      status: 401,
      json: { code: "TG_ADMIN_TOKEN" },
    });
  });

  it("is no session and no token, nor is a session a code", async () => {
    const admin = await start();
    const code = await codeOf(admin);
    expect(await isIn(admin, { headers: { cookie: `tidegate_session=${code}`, origin: admin.url } })).toBe(
      401,
    );
    expect((await ask(admin, "GET", "/v1/session", { headers: bearer(code) })).status).toBe(401);
    const { cookie } = await loggedIn(admin, { code });
    const [, value = ""] = cookie.split("=");
    expect((await ask(admin, "POST", "/v1/login", { body: { code: value } })).status).toBe(401);
    expect((await ask(admin, "POST", "/v1/login", { body: { token: value } })).status).toBe(401);
  });

  it("and what was begun with it end with the token of whoever made it", async () => {
    const admin = await start({ token: "s3cret-of-settings" });
    const root = bearer("s3cret-of-settings");
    const headers = bearer(await made(admin, "ann", "admin", root));
    const [used, unused] = [await codeOf(admin, headers), await codeOf(admin, headers)];
    const browser = await loggedIn(admin, { code: used });
    await ask(admin, "DELETE", "/v1/tokens/ann", { headers: root });
    expect(await isIn(admin, browser)).toBe(401);
    expect((await ask(admin, "POST", "/v1/login", { body: { code: unused } })).status).toBe(401);
  });

  it("leaves an entry in the audit, without itself", async () => {
    const admin = await start();
    const code = await codeOf(admin);
    const { text, json } = await ask(admin, "GET", "/v1/audit");
    expect(json.entries[0]).toMatchObject({ what: "token.login-code" });
    expect(text + JSON.stringify(admin.lines)).not.toContain(code);
  });
});

describe("every answer", () => {
  it("is kept by nobody, framed by nobody, and leads nowhere else", async () => {
    const admin = await start({ token: "s3cret-of-settings" });
    for (const [method, path, body] of [
      ["GET", "/health"],
      ["GET", "/v1/status"],
      ["POST", "/v1/login", { token: "s3cret-of-settings" }],
      ["POST", "/v1/login", { token: "x" }],
      ["GET", "/nowhere"],
    ] as const) {
      const { headers } = await ask(admin, method, path, { body });
      expect(headers).toMatchObject({
        "cache-control": "no-store",
        "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
      });
      expect(headers["access-control-allow-origin"]).toBeUndefined();
    }
  });
});

describe("servers on one Redis", () => {
  async function redisData(port: number, prefix: string): Promise<Data> {
    const client = createClient({
      socket: { port, reconnectStrategy: 50 },
      disableOfflineQueue: true,
      commandOptions: { timeout: 0 },
    });
    client.on("error", () => {});
    await client.connect();
    onTestFinished(() => client.destroy());
    return openRedisData({ client, prefix, directory: memoryDirectory() });
  }

  it("heed within a second what was made and revoked at another, sessions and codes included", async () => {
    const prefix = `t:${crypto.randomUUID()}`;
    const openData = () => redisData(inject("redisPort"), prefix);
    const [one, other] = [await start({ openData }), await start({ openData })];
    expect((await ask(other, "GET", "/v1/session")).status).toBe(200);
    const ann = bearer(await made(one, "ann", "admin"));
    await soon("the house is closed", async () => (await ask(other, "GET", "/v1/session")).status === 401);
    const secret = await made(one, "eva", "operator", ann);
    const eva = bearer(secret);
    expect((await ask(other, "GET", "/v1/session", { headers: eva })).json.name).toBe("eva");
    const browser = await loggedIn(one, { token: secret });
    const there = { headers: { cookie: browser.cookie } };
    expect(await isIn(other, there)).toBe(200);
    const code = await codeOf(one, ann);
    expect(await loggedIn(other, { code })).toBeDefined();
    expect((await ask(one, "POST", "/v1/login", { body: { code } })).status).toBe(401);
    expect((await ask(one, "DELETE", "/v1/tokens/eva", { headers: ann })).status).toBe(200);
    expect((await ask(one, "GET", "/v1/session", { headers: eva })).status).toBe(401);
    expect(await isIn(one, there)).toBe(401);
    await soon("the token is revoked there too", async () => {
      return (await ask(other, "GET", "/v1/session", { headers: eva, from: newAddress() })).status === 401;
    });
    await soon("the session too", async () => (await isIn(other, there)) === 401);
  });

  it("that is out of reach let whoever was known look, and nobody change anything or log in", async () => {
    const redis = await startRedis();
    const proxy = await faultProxy(redis.port);
    onTestFinished(async () => {
      await proxy.stop();
      await redis.stop();
    });
    const openData = () => redisData(proxy.port, "t");
    const admin = await start({ openData });
    const ann = bearer(await made(admin, "ann", "admin"));
    const browser = await loggedIn(admin, { token: ann.authorization?.slice(7) as string });
    expect(await isIn(admin, browser)).toBe(200);
    expect((await ask(admin, "GET", "/v1/session", { headers: ann })).status).toBe(200);
    await proxy.refuse(true);
    proxy.cut();
    const unreachable = { status: 503, json: { code: "TG_DATA_UNREACHABLE" } };
    for (const headers of [ann, browser.headers]) {
      await eventually(async () => {
        const { status, json } = await ask(admin, "GET", "/v1/session", { headers });
        expect(status).toBe(200);
        return json.role === "viewer" || undefined;
      });
      expect(await ask(admin, "POST", "/v1/policy", { body: { text: "" }, headers })).toMatchObject(
        unreachable,
      );
    }
    expect(await ask(admin, "GET", "/v1/session")).toMatchObject(unreachable);
    expect(
      await ask(admin, "POST", "/v1/login", { body: { token: ann.authorization?.slice(7) } }),
    ).toMatchObject(unreachable);
    await proxy.refuse(false);
    await eventually(
      async () =>
        (await ask(admin, "GET", "/v1/session", { headers: ann })).json.role === "admin" || undefined,
    );
  });
});
