import { once } from "node:events";
import { connect } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { routes } from "../../packages/tidegate-server/src/api/routes.js";
import { type Admin, firstPolicy, startAdmin } from "./api-serving.js";

let admin: Admin;
let ask: Admin["ask"];

beforeAll(async () => {
  admin = await startAdmin();
  ask = admin.ask;
});

afterAll(() => admin.close());

describe("bad input", () => {
  it.each([
    ["POST", "/v1/explain", {}, "body.subject"],
    ["POST", "/v1/explain", { subject: {} }, "body.subject"],
    ["POST", "/v1/explain", { subject: { ip: 5 } }, "body.subject.ip"],
    ["POST", "/v1/explain", { subject: { ip: "x", nope: 1 } }, "body.subject"],
    ["POST", "/v1/explain", { subject: { ip: "203.0.113.7, 10.0.0.1" } }, "body.subject.ip"],
    ["POST", "/v1/explain", { subject: { ip: "" } }, "body.subject.ip"],
    ["POST", "/v1/explain", { subject: { headers: { a: 1 } } }, "body.subject.headers.a"],
    ["POST", "/v1/clear", { subject: [] }, "body.subject"],
    ["POST", "/v1/policy", { text: "x", extra: 1 }, "body"],
    ["POST", "/v1/policy", { text: 5 }, "body.text"],
    ["POST", "/v1/policy", { text: "x", after: "1" }, "body.after"],
    ["POST", "/v1/policy", { text: "x", why: "y".repeat(1001) }, "body.why"],
    ["POST", "/v1/policy/rollback", { to: 0 }, "body.to"],
    ["PUT", "/v1/lists/blocklist/203.0.113.1", { fro: "1h" }, "body"],
    ["PUT", "/v1/lists/blocklist/203.0.113.1", { force: "yes" }, "body.force"],
    ["PUT", "/v1/customers/a/tier", {}, "body.tier"],
    ["PUT", "/v1/customers/a/tier", "[]", "body"],
    ["PUT", "/v1/customers/a/tier", "null", "body"],
    ["PUT", "/v1/customers/a/tier", "{", "body"],
    ["PUT", "/v1/customers/a/tier", '{"__proto__":{"tier":"pro"}}', "body"],
    ["PUT", "/v1/customers/a/limits", '{"limits":{"__proto__":7}}', "body.limits"],
    ["PUT", "/v1/customers/a/tier", new Uint8Array([0x7b, 0xff, 0x7d]), "body"],
    ["GET", "/v1/audit?most=0", undefined, "query.most"],
    ["GET", "/v1/audit?most=1001", undefined, "query.most"],
    ["GET", "/v1/audit?most=-1", undefined, "query.most"],
    ["GET", "/v1/audit?before=x", undefined, "query.before"],
    ["GET", "/v1/audit?limit=5", undefined, "query"],
    ["GET", "/v1/busiest?most=1e2", undefined, "query.most"],
  ] as const)("%s %s %j is 400 and names %s", async (method, path, body, place) => {
    const { status, json } = await ask(method, path, body);
    expect([status, json.code]).toEqual([400, "TG_REQUEST"]);
    expect(json.path.startsWith(place)).toBe(true);
    expect(json.detail.length).toBeGreaterThan(20);
  });

  it("names the fields there are", async () => {
    expect((await ask("PUT", "/v1/lists/blocklist/203.0.113.1", { fro: "1h" })).json.detail).toBe(
      'body: There is no field "fro". Known: for, why, force.',
    );
  });

  it("a body of any type is read as JSON: curl -d says it is a form", async () => {
    const { status } = await ask("PUT", "/v1/lists/safelist/203.0.113.1", '{"for":"1h"}', {
      "content-type": "application/x-www-form-urlencoded",
    });
    expect(status).toBe(201);
  });

  it("a body too large is 413, whether it says so or not", async () => {
    expect(await ask("POST", "/v1/policy", { text: "x".repeat(1_100_000) })).toMatchObject({ status: 413 });
    const socket = connect(admin.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write("POST /v1/policy HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
    const piece = `10000\r\n${"x".repeat(65_536)}\r\n`;
    for (let i = 0; i < 20; i++) socket.write(piece);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it("a body that ends early harms nobody", async () => {
    const socket = connect(admin.port, "127.0.0.1");
    socket.write("POST /v1/policy HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
    await once(socket, "connect");
    socket.destroy();
    expect((await ask("GET", "/health")).status).toBe(200);
    expect(admin.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("a name in Tidegate-Who is printable and short", async () => {
    for (const who of [
      "",
      "x".repeat(65),
      "a\tb",
      "\u00ff\u00fe",
      Buffer.from("\u202e").toString("latin1"),
    ]) {
      const { status, json } = await ask(
        "PUT",
        "/v1/lists/safelist/203.0.113.1",
        {},
        { "tidegate-who": who },
      );
      expect([who, status, json.path]).toEqual([who, 400, "Tidegate-Who"]);
    }
    const { json } = await ask(
      "PUT",
      "/v1/lists/safelist/203.0.113.1",
      {},
      { "tidegate-who": Buffer.from("Jürgen").toString("latin1") },
    );
    expect(json.entry.who).toBe("Jürgen");
  });

  it("what was not foreseen is 500 with an id that is in the log, and no inner words", async () => {
    const odd = await startAdmin({
      validate: () => {
        throw new Error("inner words at /home");
      },
    });
    const { status, text, json } = await odd.ask("POST", "/v1/policy/validate", { text: "x" });
    expect([status, json.code]).toEqual([500, "TG_INTERNAL"]);
    expect(text).not.toMatch(/inner words|\.ts/);
    expect(odd.lines.find(({ level }) => level === "error")).toMatchObject({
      id: json.id,
      err: { message: "inner words at /home" },
    });
    await odd.close();
  });
});

/** Sends these very bytes, and answers all that comes back before the other side ends. */
function send(bytes: Buffer, { ends = true } = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(admin.port, "127.0.0.1");
    let text = "";
    socket.setEncoding("latin1").on("data", (piece) => {
      text += piece;
    });
    socket.on("error", () => {});
    socket.once("close", () => resolve(text));
    if (ends) socket.end(bytes);
    else socket.write(bytes);
  });
}

const text = fc.oneof(fc.string({ unit: "binary", maxLength: 30 }), fc.string({ maxLength: 30 }));
const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.tuple(fc.ipV4(), fc.nat(33)).map(([ip, prefix]) => `${ip}/${prefix}`),
);
const encoded = fc
  .oneof({ weight: 3, arbitrary: address }, text)
  .map((part) => encodeURIComponent(part.replace(/\p{Cs}/gu, "")));
const segment = fc.oneof(
  { weight: 3, arbitrary: encoded },
  fc.constantFrom("..", ".", "", "__proto__", "constructor", "%", "%zz", "%00", "%2e%2e", "a%0d%0aX:y", "1"),
  fc.stringMatching(/^[!-~]{0,20}$/),
);
const query = fc.oneof(
  { weight: 6, arbitrary: fc.constant("") },
  fc
    .tuple(fc.constantFrom("most", "before", "after"), fc.nat(2000))
    .map(([name, value]) => `?${name}=${value}`),
  fc.stringMatching(/^[!-~]{0,30}$/).map((rest) => `?${rest}`),
);
const list = fc.oneof({ weight: 5, arbitrary: fc.constantFrom("safelist", "blocklist") }, segment);

const facts = fc.record(
  {
    ip: fc.oneof(address, text),
    method: text,
    host: text,
    path: text,
    user: text,
    customer: text,
    account: text,
    headers: fc.dictionary(text, text, { maxKeys: 4 }),
  },
  { requiredKeys: [] },
);
const fields: Record<string, fc.Arbitrary<unknown>> = {
  text: fc.oneof(
    text,
    fc.constantFrom(
      "rules: []",
      firstPolicy,
      "rules:\n - {name: a, by: ip, limits: [1 per 1s]}",
      "a: &a [*a]",
      "[".repeat(500),
    ),
  ),
  after: fc.nat(9),
  to: fc.nat(9),
  why: text,
  for: fc.oneof(fc.constantFrom("1h", "permanent"), text, fc.integer()),
  force: fc.boolean(),
  tier: fc.oneof(fc.constantFrom(null, "pro", "free"), text),
  limits: fc.oneof(
    fc.constant(null),
    fc.dictionary(fc.oneof(fc.nat(9999).map(String), text), fc.oneof(fc.nat(), fc.double()), { maxKeys: 3 }),
  ),
  subject: facts,
};
const fieldsOf: Record<string, string[]> = {
  "/v1/policy": ["text", "after", "why"],
  "/v1/policy/validate": ["text"],
  "/v1/policy/rollback": ["to", "why"],
  "/v1/lists/:list/:address": ["for", "why", "force"],
  "/v1/customers/:id/tier": ["tier"],
  "/v1/customers/:id/limits": ["limits"],
  "/v1/explain": ["subject"],
  "/v1/clear": ["subject"],
};

/** Mostly what the route takes, with odd values; sometimes anything. */
function bodyFor(path: string): fc.Arbitrary<Buffer> {
  const known = Object.fromEntries(
    (fieldsOf[path] ?? []).map((name) => [name, fields[name] as fc.Arbitrary<unknown>]),
  );
  const meant = fc.record(known, { requiredKeys: [] });
  const mixed = fc.dictionary(
    fc.constantFrom(...Object.keys(fields), "__proto__", "x"),
    fc.jsonValue({ maxDepth: 4 }),
    { maxKeys: 4 },
  );
  return fc.oneof(
    { weight: 6, arbitrary: meant.map((value) => Buffer.from(JSON.stringify(value))) },
    mixed.map((value) => Buffer.from(JSON.stringify(value))),
    fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  );
}

const otherMethods = fc.constantFrom("GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE");
const question = fc.constantFrom(...routes).chain(({ method, path }) =>
  fc.record({
    method: fc.oneof({ weight: 9, arbitrary: fc.constant<string>(method) }, otherMethods),
    path: fc
      .tuple(list, segment, query)
      .map(([name, part, rest]) => `${path.replace(":list", () => name).replace(/:\w+/, () => part)}${rest}`),
    body: bodyFor(path),
    who: fc.oneof(
      { weight: 5, arbitrary: fc.constant("ann") },
      fc.stringMatching(/^[ -~\u0080-\u00ff]{0,30}$/),
    ),
  }),
);

describe("whatever is sent", () => {
  it("as a request gets a clear answer, and no route fails on it", async () => {
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(question, async ({ method, path, body, who }) => {
        const head = [
          `${method} ${path} HTTP/1.1`,
          "Host: localhost",
          "Connection: close",
          `Tidegate-Who: ${who}`,
          `Content-Length: ${body.length}`,
        ].join("\r\n");
        const whole = Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), body]);
        const answer = await send(whole, { ends: false });
        const status = Number(answer.slice(9, 12));
        seen.add(status);
        expect([200, 201, 400, 404, 405, 409, 421]).toContain(status);
        if (status >= 400 && method !== "HEAD") expect(answer).toMatch(/"code":"TG_[A-Z_]+"/);
      }),
      { numRuns: 500 },
    );
    expect([...seen]).toEqual(expect.arrayContaining([200, 400, 404, 405]));
    expect(admin.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("as bytes is answered or ended, and the next one is served", async () => {
    const beginning = fc.constantFrom(
      "",
      "GET ",
      "GET / HTTP/1.1\r\n",
      "POST /v1/explain HTTP/1.1\r\nHost: localhost\r\n",
      "POST /v1/explain HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    await fc.assert(
      fc.asyncProperty(beginning, fc.uint8Array({ maxLength: 300 }), async (text, bytes) => {
        const answer = await send(Buffer.concat([Buffer.from(text), bytes]));
        expect(answer).toMatch(/^$|^HTTP\/1\.1 [24]\d\d /);
      }),
      { numRuns: 300 },
    );
    expect((await ask("GET", "/health")).status).toBe(200);
    expect(admin.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});
