import { afterEach, describe, expect, it } from "vitest";
import { type Rendered, renderCaddy } from "../../packages/tidegate-server/src/edges/render.js";
import { type ChildServer, startCaddy } from "../servers/index.js";
import {
  type Answered,
  type App,
  ask,
  openApp,
  openRig,
  type Rig,
  type RigOptions,
  saidTwice,
  sendLines,
  sendRaw,
} from "./decide-rig.js";
import { renderByFile } from "./render-by-file.js";

let rig: Rig;
let app: App;
let caddy: ChildServer;

afterEach(async () => {
  await caddy?.stop();
  await rig?.close();
  await app?.close();
});

const anyone = { ip: "198.51.100.1", method: "GET", host: "a", path: "/", header: () => undefined };
const plainRule = { name: "req/ip", by: "ip", limits: "3 per 1h" } as const;

/** Real Caddy with exactly what `render` wrote, in front of an app. It is patient, lest a busy machine open it. */
async function open(options: RigOptions = {}, uri = "/v1/auth/caddy", timeoutMs = 5000): Promise<void> {
  rig = await openRig(options);
  app = await openApp();
  const identify = { customer: "X-Customer-Id" };
  await startWith(renderCaddy({ decideUrl: rig.url, identify, timeoutMs }), uri);
}

async function startWith({ files }: Rendered, uri: string): Promise<void> {
  caddy = await startCaddy({
    files: Object.fromEntries(files.map(({ name, text }) => [name, text.replace("/v1/auth/caddy", uri)])),
    sites: ({ port }) => `import tidegate.caddy
http://:${port} {
	handle /_ready {
		respond 200
	}
	handle {
		import tidegate
		reverse_proxy 127.0.0.1:${app.port}
	}
	import tidegate_open 127.0.0.1:${app.port}
}
`,
  });
}

async function times<T>(count: number, act: () => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  for (let i = 0; i < count; i++) answers.push(await act());
  return answers;
}

const statuses = (answers: readonly Answered[]) => answers.map(({ status }) => status);

describe("behind real Caddy", () => {
  it("a client is let in with its limits shown, then gets 429 with Retry-After", async () => {
    await open({ rules: [plainRule] });
    const answers = await times(5, () => ask(`${caddy.url}/items?a=1`));
    expect(statuses(answers)).toEqual([200, 200, 200, 429, 429]);
    expect(answers[0]?.headers).toMatchObject({
      ratelimit: expect.stringMatching(/^"req\/ip\/3600";r=2;t=\d+$/),
      "ratelimit-policy": '"req/ip/3600";q=3;w=3600',
    });
    const refused = answers[3] as Answered;
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(refused.headers["content-type"]).toBe("application/problem+json");
    expect(refused.headers.ratelimit).toMatch(/;r=0;/);
    expect(refused.json).toMatchObject({ status: 429, rule: "req/ip/3600" });
    expect(app.seen).toHaveLength(3);
    expect(app.seen[0]?.headers).toMatchObject({ "tidegate-decision": expect.stringMatching(/^\w+-\w+$/) });
    expect(app.seen[0]?.headers.ratelimit).toBeUndefined();
  });

  it("the blocklisted get 403", async () => {
    await open({ blocklist: ["127.0.0.1"] });
    const answer = await ask(`${caddy.url}/`);
    expect(answer.status).toBe(403);
    expect(answer.headers["retry-after"]).toBeUndefined();
    expect(app.seen).toHaveLength(0);
  });

  it("without limits to show none are made up", async () => {
    await open({ rules: [plainRule], safelist: ["127.0.0.1"] });
    const answer = await ask(`${caddy.url}/`, {
      headers: { RateLimit: "mine", "Tidegate-Decision": "mine" },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.ratelimit).toBeUndefined();
    expect(app.seen[0]?.headers["tidegate-decision"]).not.toBe("mine");
  });

  it("what a client says of itself changes nothing, in its query neither", async () => {
    await open({ rules: [plainRule], settings: { identify: { customer: "X-Customer-Id" } } });
    const seen: unknown[] = [];
    rig.gate.on("decision", ({ subject: { ip, method, host, path, customer } }) =>
      seen.push({ ip, method, host, path, customer }),
    );
    const answers: Answered[] = [];
    for (let i = 0; i < 4; i++) {
      const made = `198.51.100.${i}`;
      answers.push(
        await ask(`${caddy.url}/shop?for=nginx&uri=/x`, {
          headers: {
            host: "shop.example",
            "X-Forwarded-For": made,
            "X-Real-IP": made,
            "X-Forwarded-Uri": "/_ready",
            "X-Original-URI": "/_ready",
            "X-Forwarded-Method": "OPTIONS",
            "X-Forwarded-Host": "elsewhere.example",
            "X-Customer-Id": "somebody",
            Origin: "https://elsewhere.example",
            "Sec-Fetch-Site": "cross-site",
          },
        }),
      );
    }
    expect(statuses(answers)).toEqual([200, 200, 200, 429]);
    expect(seen[0]).toEqual({
      ip: "127.0.0.1",
      method: "GET",
      host: "shop.example",
      path: "/shop?for=nginx&uri=/x",
      customer: undefined,
    });
  });

  it("rendered by the server's file, nobody names its own customer, or uses up another's quota", async () => {
    rig = await openRig({
      rules: [{ name: "api", by: "customer", limits: "5 per 1h" }],
      settings: { identify: { customer: "x-customer-id" } },
    });
    app = await openApp();
    await startWith(await renderByFile("caddy", rig), "/v1/auth/caddy");
    const seen: unknown[] = [];
    rig.gate.on("decision", ({ subject }) => seen.push(subject.customer));
    for (const name of ["X-Customer-Id", "x-customer-id", "X-CUSTOMER-ID", "X_Customer_Id"])
      await times(2, () => ask(`${caddy.url}/`, { headers: { [name]: "42" } }));
    expect(seen).toEqual(Array(8).fill(undefined));
    const own = await times(5, () => rig.gate.decide({ ...anyone, customer: "42" }));
    expect(own.map(({ allowed }) => allowed)).toEqual(Array(5).fill(true));
  });

  it("a client's query that Caddy appends names no other proxy", async () => {
    await open({ rules: [plainRule] }, "/v1/auth?for=caddy");
    const made = { "X-Real-IP": "198.51.100.7", "X-Original-URI": "/x", "X-Original-Method": "GET" };
    const answers = await times(4, () => ask(`${caddy.url}/?for=nginx&for=nginx`, { headers: made }));
    expect(statuses(answers)).toEqual([200, 200, 200, 429]);
  });

  it("with the service gone requests pass, with their bodies", async () => {
    await open({ rules: [plainRule] });
    await rig.kill();
    const answers = await times(5, () => ask(`${caddy.url}/form`, { body: "a body" }));
    expect(new Set(statuses(answers))).toEqual(new Set([200]));
    expect(app.seen.map(({ method, body }) => `${method} ${body}`)).toEqual(Array(5).fill("POST a body"));
  });

  it("with the service hung requests pass, in bounded time", async () => {
    await open({ rules: [plainRule] }, undefined, 100);
    await rig.hang();
    const answers = await times(3, () => ask(`${caddy.url}/`));
    expect(new Set(statuses(answers))).toEqual(new Set([200]));
    for (const { tookMs } of answers) expect(tookMs).toBeLessThan(2000);
  });

  it("an app that fails is not asked a second time", async () => {
    await open({ rules: [plainRule] });
    await app.close();
    expect((await ask(`${caddy.url}/form`, { body: "once" })).status).toBe(502);
    app = await openApp();
  });

  it("who says a counted header or cookie twice, or in another spelling, becomes no other client", async () => {
    const { rules, settings } = saidTwice;
    await open({ rules, settings });
    for (const lines of [...saidTwice.requests, ["X_API_Key: k"]])
      expect([lines, await sendLines(caddy.port, lines)]).toEqual([
        lines,
        expect.stringMatching(/^HTTP\/1\.1 400[\s\S]*TG_REQUEST_REPEATED/),
      ]);
    expect(app.seen).toHaveLength(0);
    const once = ["X-API-Key: k", "Cookie: sid=good; sid=good; other=1"];
    expect(await sendLines(caddy.port, once)).toMatch(/^HTTP\/1\.1 200/);
    expect(await sendLines(caddy.port, ["X-API-Key: k", "Cookie: sid=t"])).toMatch(/^HTTP\/1\.1 429/);
  });

  it("an undeclared proxy gets nobody through", async () => {
    await open({ rules: [plainRule], settings: { decide: { peers: ["192.0.2.1"] } } });
    const answer = await ask(`${caddy.url}/`);
    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({ code: "TG_PEER_UNDECLARED" });
  });

  it("no request can make the gate open by its oddity", async () => {
    await open({ rules: [{ name: "none", by: ["ip", "path"], limits: "0 per 1h" }] });
    const odd = [
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Odd: a\x01b\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Odd: \xff\xfe\r\n\r\n`,
      `GET /?a=\xff\xfe"<> HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      `GET /%ff\xff HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      `GET http://a/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc`,
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: ${"c".repeat(100_000)}\r\n\r\n`,
      `GET /${"a".repeat(30_000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: ${"c".repeat(20_000)}\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: ${"c".repeat(1_000_000)}\r\n\r\n`,
      `GET /?${"a".repeat(1_000_000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${"A: b\r\n".repeat(20_000)}\r\n`,
      `GET / HTTP/1.0\r\n\r\n`,
    ];
    for (const request of odd) {
      const answer = await sendRaw(caddy.port, Buffer.from(request, "latin1"));
      const final = answer.replace(/^(HTTP\/1\.1 1\d\d[\s\S]*?\r\n\r\n)+/, "");
      expect(final.slice(0, 12), request.slice(0, 60)).toMatch(/^HTTP\/1\.[01] (4\d\d)$/);
    }
    expect(app.seen).toHaveLength(0);
  });
});
