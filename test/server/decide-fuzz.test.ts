import { connect } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, openRig, type Rig, sendRaw } from "./decide-rig.js";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig({
    rules: [
      { name: "req/ip", by: "ip", limits: "1000000 per 1h" },
      { name: "mixed", by: ["account", "header:x-a", "standard"], limits: "1000000 per 1h" },
    ],
    settings: { decide: { canFinish: true } },
  });
});
afterAll(() => rig.close());

/** Whatever came before, a good question is answered. */
async function expectWell(): Promise<void> {
  const good = await ask(`${rig.url}/v1/decide`, { body: { subject: { ip: "203.0.113.7", path: "/" } } });
  expect(good).toMatchObject({ status: 200, json: { allowed: true } });
}

const names = [
  "subject",
  "subjects",
  "rule",
  "cost",
  "id",
  "ip",
  "headers",
  "path",
  "user",
  "wait",
  "__proto__",
  "constructor",
  "decisions",
  "status",
];
const anyBody = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(fc.string({ unit: "binary" }), fc.double(), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 6 }),
  ),
})).value;
const paths = fc.constantFrom("/v1/decide", "/v1/finish", "/v1/explain");

describe("whatever is sent", () => {
  it("a body of any shape gets an answer or a clear 4xx", async () => {
    await fc.assert(
      fc.asyncProperty(paths, anyBody, async (path, body) => {
        const { status, json } = await ask(`${rig.url}${path}`, { body: JSON.stringify(body) ?? "" });
        expect([200, 400, 404, 413]).toContain(status);
        if (status !== 200)
          expect(json).toMatchObject({
            status,
            code: expect.stringMatching(/^TG_/),
            detail: expect.any(String),
          });
      }),
      { numRuns: 250 },
    );
    expect(({} as Record<string, unknown>).ip).toBeUndefined();
    await expectWell();
  });

  it("a subject with odd facts gets an answer or a clear 4xx", async () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.webUrl(),
      fc.ipV6(),
      fc.constant("%2e%2e/%00"),
    );
    const facts = fc.record(
      {
        ip: fc.oneof(fc.ipV4(), fc.ipV6()),
        method: text,
        host: text,
        path: text,
        user: text,
        customer: text,
        account: text,
        headers: fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 3 }))),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(facts, async (subject) => {
        const { status } = await ask(`${rig.url}/v1/decide`, { body: { subject } });
        expect(status).toBe(200);
        const query = new URLSearchParams({ ip: subject.ip ?? "::1", path: String(subject.path) });
        expect((await ask(`${rig.url}/v1/explain?${query}`)).status).toBe(200);
      }),
      { numRuns: 150 },
    );
  });

  it("bytes that are no JSON or no UTF-8 are 400", async () => {
    const lone = Buffer.concat([
      Buffer.from('{"subject":{"ip":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}}'),
    ]);
    expect(await ask(`${rig.url}/v1/decide`, { body: lone })).toMatchObject({
      status: 400,
      json: { code: "TG_QUESTION" },
    });
    for (const body of [
      "",
      "{",
      "nul",
      "\u0000",
      '{"subject":',
      `${"[".repeat(100_000)}`,
      `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`,
    ])
      expect((await ask(`${rig.url}/v1/decide`, { method: "POST", body })).status).toBe(400);
    await fc.assert(
      fc.asyncProperty(paths, fc.uint8Array({ maxLength: 200 }), async (path, bytes) => {
        const { status } = await ask(`${rig.url}${path}`, { method: "POST", body: Buffer.from(bytes) });
        expect([200, 400, 404]).toContain(status);
      }),
      { numRuns: 100 },
    );
    await expectWell();
  });

  it("a content type that can not be JSON is 415, others are taken at their body's word", async () => {
    const body = { subject: { ip: "203.0.113.7" } };
    const statusAs = async (type: string) =>
      (await ask(`${rig.url}/v1/decide`, { body, headers: { "content-type": type } })).status;
    for (const type of [
      "application/json; charset=utf-8",
      "application/vnd.a+json",
      "text/plain",
      "application/x-www-form-urlencoded",
      "JSON",
    ])
      expect(await statusAs(type), type).toBe(200);
    for (const type of ["multipart/form-data; boundary=x", "image/png", "application/xml"])
      expect(await statusAs(type), type).toBe(415);
  });

  it("raw bytes get a 4xx or a closed connection", async () => {
    const head = "POST /v1/decide HTTP/1.1\r\nHost: 127.0.0.1\r\n";
    const cases = [
      "\r\n\r\n\r\n",
      "GARBAGE\r\n\r\n",
      `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcde`,
      `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `${head}Content-Length: -1\r\n\r\n`,
      `${head}Content-Length: 99999999999\r\nConnection: close\r\n\r\n{}`,
      `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      `${head}Connection: close\r\n\r\n`,
      `GET /v1/auth?for=\xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
      `GET /v1/explain?%ff=%&ip=%00 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
      `CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`,
      `POST http://evil/v1/decide HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
      `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
    ];
    await Promise.all(
      cases.map(async (bytes) => {
        const answer = await sendRaw(rig.port, Buffer.from(bytes, "latin1"), 300);
        expect(answer, bytes).toMatch(/^(HTTP\/1\.1 (4\d\d|200)|$)/);
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 100 }), async (bytes) => {
        const answer = await sendRaw(
          rig.port,
          Buffer.concat([Buffer.from(bytes), Buffer.from("\r\n\r\n")]),
          100,
        );
        expect(answer).toMatch(/^(HTTP\/1\.1 [245]\d\d|$)/);
      }),
      { numRuns: 15 },
    );
    await expectWell();
  });

  it("bodies cut off in the middle leave nothing behind", async () => {
    const head =
      'POST /v1/decide HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n{"subject":{"ip":"203.0.113.7"}}';
    const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
    const allowed = async () =>
      /endpoint="decide",outcome="allowed"} (\d+)/.exec(await rig.registry.metrics())?.[1];
    await expectWell();
    const [callsBefore, socketsBefore, allowedBefore] = [rig.calls, sockets(), await allowed()];
    const cut = Array.from({ length: 50 }, () => connect(rig.port, "127.0.0.1").on("error", () => {}));
    for (const socket of cut) socket.write(head);
    await expect.poll(() => rig.calls - callsBefore, { timeout: 10_000 }).toBe(50);
    for (const socket of cut) socket.destroy();
    await expect.poll(sockets, { timeout: 10_000 }).toBeLessThanOrEqual(socketsBefore);
    expect(await allowed()).toBe(allowedBefore);
    await expectWell();
  });

  it("what is hostile is never part of a log line's words", async () => {
    const hostile = "\u001b[31mred\nline";
    await ask(`${rig.url}/v1/decide`, { body: { subject: { ip: hostile, path: hostile }, rule: hostile } });
    for (const { words } of rig.logged) expect(words).not.toContain("red");
  });
});
