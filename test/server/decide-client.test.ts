import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { slidingLog, type TidegateError } from "tidegate";
import { type DecideClient, type DecideClientOptions, decideClient } from "tidegate-server/client";
import { afterEach, describe, expect, it } from "vitest";
import { Secret } from "../../packages/tidegate-server/src/secret.js";
import { openRig, type Rig } from "./decide-rig.js";

const toClose: (() => unknown)[] = [];
let told: TidegateError[] = [];
afterEach(async () => {
  for (const close of toClose.splice(0).reverse()) await close();
  told = [];
});

async function rigOf(options: Parameters<typeof openRig>[0]): Promise<Rig> {
  const rig = await openRig(options);
  toClose.push(() => rig.close());
  return rig;
}

function clientOf(options: DecideClientOptions): DecideClient {
  const client = decideClient({ onError: (error) => told.push(error), ...options });
  toClose.push(() => client.close());
  return client;
}

/** A service that answers whatever it likes. */
async function liar(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  toClose.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const subject = { ip: "203.0.113.7", path: "/items" };
const patient = { timeoutMs: 5000 };

describe("a client of a running service", () => {
  it("gets decisions, one or many, of one rule or all", async () => {
    const { url } = await rigOf({
      rules: [
        { name: "req/ip", by: "ip", limits: "3 per 1h" },
        { name: "sms", by: "user", limits: [slidingLog({ limit: 5, window: "1d" })] },
      ],
    });
    const client = clientOf({ url, ...patient });
    const first = await client.decide(subject);
    expect(first).toMatchObject({ allowed: true, reason: "within-limits", verdict: { remaining: 2 } });
    expect(first.headers.RateLimit).toContain("r=2");
    const [sms, other] = await client.decideMany([
      { user: "1", rule: "sms", cost: 2 },
      { ip: "203.0.113.8" },
    ]);
    expect(sms?.verdict).toMatchObject({ rule: "sms", remaining: 3 });
    expect(other?.verdict).toMatchObject({ key: "203.0.113.8" });
    const never = await client.decide({ user: "1" }, { rule: "sms", cost: 6 });
    expect(never.verdict?.retryAfterMs).toBe(Number.POSITIVE_INFINITY);
    expect((await client.explain(subject)).words).toEqual(expect.any(String));
    expect(told).toEqual([]);
  });

  it("says how a request ended, where that is wanted", async () => {
    const { url } = await rigOf({
      rules: [{ name: "login", by: "ip", limits: "1 per 1h", count: "failures" }],
      settings: { decide: { canFinish: true } },
    });
    const client = clientOf({ url, ...patient });
    for (let i = 0; i < 3; i++) {
      const decision = await client.decide(subject);
      expect(decision.allowed).toBe(true);
      await client.finish(decision, { status: 200 });
    }
    const refused = await client.decide(subject).then(() => client.decide(subject));
    expect(refused.allowed).toBe(false);
    await client.finish(refused);
  });

  it("sends its token", async () => {
    const { url } = await rigOf({ settings: { decide: { peers: [], token: new Secret("right") } } });
    expect((await clientOf({ url, token: "right", ...patient }).decide(subject)).reason).toBe(
      "within-limits",
    );
  });

  it("is told what is wrong with a question", async () => {
    const { url } = await rigOf({});
    const client = clientOf({ url, onFailure: "throw", ...patient });
    await expect(client.decide(subject, { rule: "nope" })).rejects.toMatchObject({ code: "TG_RULE_UNKNOWN" });
    await expect(client.explain({ ip: 5 as unknown as string })).rejects.toMatchObject({
      code: "TG_QUESTION",
    });
    await expect(client.decide({ ip: "203.0.113.7, 10.0.0.1" })).rejects.toMatchObject({
      code: "TG_QUESTION",
      message: expect.stringContaining('subject.ip is no address: "203.0.113.7, 10.0.0.1"'),
    });
  });
});

describe("a question the service refuses", () => {
  it("lets nobody in, whatever onFailure says: it is thrown", async () => {
    const { url } = await rigOf({ settings: { decide: { peers: [], token: new Secret("right") } } });
    for (const onFailure of ["allow", "deny", "throw"] as const) {
      const wrong = clientOf({ url, token: "wrong", onFailure, ...patient });
      await expect(wrong.decide(subject)).rejects.toMatchObject({ code: "TG_DECIDE_TOKEN" });
      const right = clientOf({ url, token: "right", onFailure, ...patient });
      const misspelt = { ...subject, acount: "ann" };
      await expect(right.decide(misspelt)).rejects.toMatchObject({ code: "TG_QUESTION" });
      await expect(right.decideMany([subject, misspelt])).rejects.toMatchObject({ code: "TG_QUESTION" });
      await expect(right.decide(subject, { cost: -1 })).rejects.toMatchObject({ code: "TG_QUESTION" });
      const noSubject = undefined as unknown as typeof subject;
      await expect(right.decide(noSubject)).rejects.toThrow();
    }
    expect(told).toEqual([]);
  });

  it("is refused too where something in front of the service says so in words of its own", async () => {
    for (const status of [400, 403, 404, 413, 431]) {
      const url = await liar((_, res) => res.writeHead(status).end("<html>no</html>"));
      const client = clientOf({ url, ...patient });
      for (let i = 0; i < 10; i++)
        await expect(client.decide(subject)).rejects.toMatchObject({ code: "TG_SERVICE" });
    }
  });

  it("is none where the service is busy, unless that is for too many wrong tokens", async () => {
    for (const status of [408, 429, 503]) {
      const url = await liar((_, res) => res.writeHead(status).end("busy"));
      expect(await clientOf({ url, ...patient }).decide(subject)).toMatchObject({ reason: "degraded" });
    }
    const url = await liar((_, res) => res.writeHead(429).end('{"code":"TG_DECIDE_TOKEN","detail":"wait"}'));
    await expect(clientOf({ url, ...patient }).decide(subject)).rejects.toMatchObject({
      code: "TG_DECIDE_TOKEN",
    });
  });
});

describe("whatever a client makes of its own facts", () => {
  const login = { ip: "203.0.113.50", method: "POST", path: "/login" };
  const rules = [
    { name: "account", only: "POST /login", by: "account", limits: "3 per 1h" },
    { name: "ip", only: "POST /login", by: "ip", limits: "5 per 1h" },
  ] as const;
  const tooMuch: [what: string, facts: object][] = [
    ["blanks behind its name", { account: `ann${" ".repeat(17_000)}` }],
    ["blanks before its name", { account: `${" ".repeat(17_000)}ann` }],
    ["a name of two megabytes", { account: "a".repeat(2_000_000) }],
    ["a number", { account: 12_345 }],
    ["a large number", { account: 12_345n }],
    ["a list", { account: ["ann"] }],
    ["an object", { account: { $ne: null } }],
    ["true", { account: true }],
    ["null", { account: null }],
    ["a long query", { path: `/login?${"x".repeat(17_000)}` }],
    ["a long way to the same path", { path: `${"/x/..".repeat(400_000)}/login` }],
    ["headers without a value", { headers: { "user-agent": undefined, a: null, b: [null], c: 5, d: {} } }],
  ];

  it.each(tooMuch)("%s: it is judged", async (_, facts) => {
    const { url } = await rigOf({ rules });
    const client = clientOf({ url, ...patient });
    const reasons: string[] = [];
    for (let i = 0; i < 7; i++) reasons.push((await client.decide({ ...login, ...facts })).reason);
    expect(reasons.slice(0, 3)).toEqual(Array(3).fill("within-limits"));
    expect(reasons.slice(5)).toEqual(Array(2).fill("over-limit"));
    expect(told).toEqual([]);
  });

  it("a name in blanks is the same name, and two long ones that begin otherwise are two", async () => {
    const { url } = await rigOf({ rules });
    const client = clientOf({ url, ...patient });
    const left = async (account: string) =>
      (await client.decide({ ...login, account }, { rule: "account" })).verdict?.remaining;
    expect(await left("ann")).toBe(2);
    expect(await left(`${" ".repeat(2_000_000)}Ann`)).toBe(1);
    expect(await left(`ann${" ".repeat(2_000_000)}`)).toBe(0);
    expect(await left("b".repeat(2_000_000))).toBe(2);
    expect(await left("c".repeat(2_000_000))).toBe(2);
    expect(await left(`c${"c".repeat(3_000_000)}`)).toBe(1);
  });

  it("one among many changes nothing for the others", async () => {
    const { url } = await rigOf({ rules });
    const client = clientOf({ url, ...patient });
    const many = tooMuch.map(([, facts], i) => ({ ...login, ip: `203.0.113.${i}`, ...facts }));
    const decisions = await client.decideMany(many);
    expect(decisions.map(({ reason }) => reason)).not.toContain("degraded");
    const last = await client.decideMany(Array(4).fill({ ...login, account: "zoe" }));
    expect(last.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
  });

  it("what does not fit into one question is asked in parts, in its order", async () => {
    const { url } = await rigOf({ rules });
    const client = clientOf({ url, ...patient });
    const many = Array.from({ length: 12 }, (_, i) => ({ ip: `203.0.113.${i}`, path: "\0".repeat(16_000) }));
    const decisions = await client.decideMany(many, { rule: "ip" });
    expect(decisions).toHaveLength(12);
    const lines = { a: "x".repeat(1_100_000) };
    await expect(client.decide({ ...login, headers: lines })).rejects.toMatchObject({
      code: "TG_QUESTION_LARGE",
    });
    expect(told).toEqual([]);
  });
});

describe("a client whose service is away", () => {
  const degraded = { id: "", reason: "degraded", verdicts: [], source: "none", headers: {} };

  it("lets everybody in by default, or nobody, or throws", async () => {
    const rig = await rigOf({});
    await rig.kill();
    const { url } = rig;
    expect(await clientOf({ url }).decide(subject)).toMatchObject({ ...degraded, allowed: true });
    expect(await clientOf({ url, onFailure: "deny" }).decide(subject)).toMatchObject({
      ...degraded,
      allowed: false,
    });
    await expect(clientOf({ url, onFailure: "throw" }).decide(subject)).rejects.toMatchObject({
      code: "TG_SERVICE",
    });
    expect(await clientOf({ url }).decideMany([subject, subject])).toHaveLength(2);
    await expect(clientOf({ url }).explain(subject)).rejects.toMatchObject({ code: "TG_SERVICE" });
  });

  it("waits timeoutMs for a hung one, a few times, then not at all until it answers again", async () => {
    let answers = false;
    let asked = 0;
    const url = await liar((_, res) => {
      asked++;
      if (answers) res.end('{"id":"a-1","allowed":false,"reason":"over-limit","verdicts":[],"headers":{}}');
    });
    const client = clientOf({ url, timeoutMs: 20 });
    for (let i = 0; i < 50; i++) expect((await client.decide(subject)).reason).toBe("degraded");
    expect(asked).toBeLessThanOrEqual(25);
    answers = true;
    await expect
      .poll(async () => (await client.decide(subject)).reason, { timeout: 10_000 })
      .toBe("over-limit");
  });

  it("takes a lie for no answer", async () => {
    const lies: [status: number, body: string][] = [
      [200, ""],
      [200, "<html>"],
      [200, "null"],
      [200, "[]"],
      [200, '{"allowed":"yes"}'],
      [200, '{"id":"a","allowed":true,"reason":"x","verdicts":"none","headers":{}}'],
      [200, '{"decisions":[]}'],
      [500, '{"id":"a","allowed":true,"reason":"x","verdicts":[],"headers":{}}'],
      [302, ""],
    ];
    for (const [status, body] of lies) {
      const url = await liar((_, res) => res.writeHead(status).end(body));
      const client = clientOf({ url, onFailure: "deny", ...patient });
      expect(await client.decide(subject), body).toMatchObject({ ...degraded, allowed: false });
      expect(await client.decideMany([subject]), body).toMatchObject([{ ...degraded, allowed: false }]);
    }
  });

  it("is not held up by an answer that never ends, nor by one that is no HTTP", async () => {
    const endless = await liar((_, res) => {
      res.writeHead(200);
      const timer = setInterval(() => res.write("x".repeat(1000)), 1);
      res.on("close", () => clearInterval(timer));
    });
    const noise = createTcpServer((socket) => socket.on("error", () => {}).end("SSH-2.0-noise\r\n"));
    noise.listen(0, "127.0.0.1");
    await new Promise((resolve) => noise.once("listening", resolve));
    toClose.push(() => noise.close());
    for (const url of [endless, `http://127.0.0.1:${(noise.address() as AddressInfo).port}`]) {
      const startedAt = performance.now();
      expect(await clientOf({ url }).decide(subject)).toMatchObject(degraded);
      expect(performance.now() - startedAt).toBeLessThan(3000);
    }
  });

  it("is not made with a misspelt option, which would silently do nothing", () => {
    const options = { url: "http://127.0.0.1:8090", tiemoutMs: 4 };
    expect(() => decideClient(options)).toThrow(
      expect.objectContaining({ code: "TG_CLIENT", path: "tiemoutMs" }),
    );
  });

  it("is not made with what can not work", () => {
    for (const options of [
      { url: "nowhere" },
      { url: "ftp://a" },
      { url: "http://a", timeoutMs: 0 },
      { url: "http://a", onFailure: "open" as "allow" },
    ])
      expect(() => decideClient(options)).toThrow(expect.objectContaining({ code: "TG_CLIENT" }));
  });
});
