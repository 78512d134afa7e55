import { join } from "node:path";
import type { GateOptions } from "tidegate";
import { afterEach, describe, expect, it } from "vitest";
import { type Rendered, renderNginxAuth } from "../../packages/tidegate-server/src/edges/render.js";
import { type ChildServer, startNginx } from "../servers/index.js";
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
import { temporaryFolder } from "./running.js";

let rig: Rig;
let app: App;
let nginx: ChildServer;

afterEach(async () => {
  await nginx?.stop();
  await rig?.close();
  await app?.close();
});

const anyone = { ip: "198.51.100.1", method: "GET", host: "a", path: "/", header: () => undefined };
const plainRule = { name: "req/ip", by: "ip", limits: "3 per 1h" } as const;

/** Real nginx with exactly what `render` wrote, in front of an app. It is patient, lest a busy machine open it. */
async function open(options: RigOptions & Partial<GateOptions> = {}, timeoutMs = 5000): Promise<void> {
  rig = await openRig(options);
  app = await openApp();
  await startWith((dir) =>
    renderNginxAuth({
      decideUrl: rig.url,
      cachePath: join(dir, "refusals"),
      identify: { customer: "X-Customer-Id" },
      timeoutMs,
    }),
  );
}

async function startWith(render: (dir: string) => Rendered): Promise<void> {
  nginx = await startNginx({
    files: (dir) => Object.fromEntries(render(dir).files.map(({ name, text }) => [name, text])),
    http: ({ port }) => `
include tidegate-http.conf;
server {
  listen 127.0.0.1:${port};
  include tidegate-server.conf;
  location = /_ready { auth_request off; return 200; }
  location / {
    include tidegate-location.conf;
    proxy_pass http://127.0.0.1:${app.port};
  }
}`,
  });
}

async function times<T>(count: number, act: () => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  for (let i = 0; i < count; i++) answers.push(await act());
  return answers;
}

const statuses = (answers: readonly Answered[]) => answers.map(({ status }) => status);

describe("behind real nginx", () => {
  it("a client is let in with its limits shown, then gets 429 with Retry-After", async () => {
    await open({ rules: [plainRule] });
    const answers = await times(5, () => ask(`${nginx.url}/items?a=1`));
    expect(statuses(answers)).toEqual([200, 200, 200, 429, 429]);
    expect(answers[0]?.headers).toMatchObject({
      ratelimit: expect.stringMatching(/^"req\/ip\/3600";r=2;t=\d+$/),
      "ratelimit-policy": '"req/ip/3600";q=3;w=3600',
      "tidegate-decision": expect.stringMatching(/^\w+-\w+$/),
    });
    const refused = answers[3] as Answered;
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(refused.headers["content-type"]).toBe("application/problem+json");
    expect(refused.headers["cache-control"]).toBe("no-store");
    expect(refused.json).toMatchObject({ status: 429, decision: refused.headers["tidegate-decision"] });
    expect(app.seen).toHaveLength(3);
  });

  it("nginx repeats a refusal of an address by itself", async () => {
    await open({ rules: [plainRule] });
    await times(4, () => ask(`${nginx.url}/`));
    expect(rig.calls).toBe(4);
    const repeated = await times(20, () => ask(`${nginx.url}/other/${Math.random()}`));
    expect(new Set(statuses(repeated))).toEqual(new Set([429]));
    expect(Number(repeated[19]?.headers["retry-after"])).toBeGreaterThan(0);
    expect(rig.calls).toBeLessThan(4 + 10);
  });

  it("a refusal on one path is not repeated on others", async () => {
    await open({ rules: [{ name: "search", only: "/search", by: "ip", limits: "1 per 1h" }] });
    const search = await times(3, () => ask(`${nginx.url}/search`));
    expect(statuses(search)).toEqual([200, 429, 429]);
    expect((await ask(`${nginx.url}/home`)).status).toBe(200);
    expect(rig.calls).toBe(4);
  });

  it("a refusal that ends within the second is not repeated beyond it", async () => {
    await open({ rules: [{ name: "quick", by: "ip", limits: "1 per 300ms" }] });
    await expect
      .poll(async () => statuses(await times(2, () => ask(`${nginx.url}/`))), { timeout: 5000 })
      .toEqual([200, 429]);
    await expect.poll(async () => (await ask(`${nginx.url}/`)).status, { timeout: 2000 }).toBe(200);
  });

  it("the blocklisted get 403, and nginx repeats it", async () => {
    await open({ blocklist: ["127.0.0.1"] });
    const answers = await times(5, () => ask(`${nginx.url}/`));
    expect(new Set(statuses(answers))).toEqual(new Set([403]));
    expect(answers[0]?.headers["retry-after"]).toBeUndefined();
    expect(rig.calls).toBeLessThan(5);
    expect(app.seen).toHaveLength(0);
  });

  it("the app's own 403 stays its own", async () => {
    await open({ rules: [plainRule] });
    app.status = 403;
    const answer = await ask(`${nginx.url}/`);
    expect(answer.status).toBe(403);
    expect(answer.text).toBe("the app");
  });

  it("what a client says of itself changes nothing", async () => {
    await open({
      rules: [plainRule, { name: "login", only: "POST /login", by: "customer", limits: "1 per 1h" }],
      settings: { identify: { customer: "X-Customer-Id" } },
    });
    const answers: Answered[] = [];
    for (let i = 0; i < 4; i++) {
      const made = `198.51.100.${i}`;
      answers.push(
        await ask(`${nginx.url}/?for=caddy`, {
          headers: {
            "X-Forwarded-For": made,
            "X-Real-IP": made,
            Forwarded: `for=${made}`,
            "X-Original-URI": "/_ready",
            "X-Original-Method": "OPTIONS",
            "X-Forwarded-Host": "elsewhere.example",
            "X-Customer-Id": "somebody",
            "Tidegate-Token": "guess",
            Origin: "https://elsewhere.example",
            "Sec-Fetch-Site": "cross-site",
            Authorization: "Bearer of-the-app",
          },
        }),
      );
    }
    expect(statuses(answers)).toEqual([200, 200, 200, 429]);
    expect(answers.at(-1)?.headers["x-accel-expires"]).toBeUndefined();
  });

  it("rendered by the server's file, nobody names its own customer, or uses up another's quota", async () => {
    rig = await openRig({
      rules: [{ name: "api", by: "customer", limits: "5 per 1h" }],
      settings: { identify: { customer: "x-customer-id" } },
    });
    app = await openApp();
    const cachePath = join(temporaryFolder(), "refusals");
    const rendered = await renderByFile("nginx-auth", rig, "--cache-path", cachePath);
    await startWith(() => rendered);
    const seen: unknown[] = [];
    rig.gate.on("decision", ({ subject }) => seen.push(subject.customer));
    for (const name of ["X-Customer-Id", "x-customer-id", "X-CUSTOMER-ID", "X_Customer_Id"])
      await times(2, () => ask(`${nginx.url}/`, { headers: { [name]: "42" } }));
    expect(seen).toEqual(Array(8).fill(undefined));
    const own = await times(5, () => rig.gate.decide({ ...anyone, customer: "42" }));
    expect(own.map(({ allowed }) => allowed)).toEqual(Array(5).fill(true));
  });

  it("rules see the request as the client sent it", async () => {
    const seen: unknown[] = [];
    await open({ rules: [plainRule] });
    rig.gate.on("decision", ({ subject }) => {
      const { ip, method, host, path } = subject;
      seen.push({ ip, method, host, path, agent: subject.header("User-Agent"), account: subject.account });
    });
    await ask(`${nginx.url}/a%2Fb?x=1&for=traefik`, {
      body: "a body",
      headers: { host: "shop.example", "user-agent": "curl/8", authorization: `Basic ${btoa("ann:pw")}` },
    });
    expect(seen).toEqual([
      {
        ip: "127.0.0.1",
        method: "POST",
        host: "shop.example",
        path: "/a%2Fb?x=1&for=traefik",
        agent: "curl/8",
        account: "ann",
      },
    ]);
    expect(app.seen[0]).toMatchObject({ method: "POST", body: "a body" });
  });

  it("a policy of as many limits as there may be opens nothing, and the limits that matter most are shown", async () => {
    const wide = Array.from({ length: 84 }, (_, i) => ({
      name: `a-rule-with-as-long-a-name-as-a-rule-may-have-in-any-policy-${i}`.padEnd(64, "x"),
      by: "ip" as const,
      limits: ["100000 per 1m", "1000000 per 1h", "10000000 per 1d"] as const,
    }));
    await open({ rules: [...wide, plainRule], newKeysPerSecond: false });
    // Code that runs for the first time takes its time, and nginx waits for 100 ms.
    const another = { "X-Original-URI": "/", "X-Original-Method": "GET", "X-Real-IP": "203.0.113.7" };
    await times(3, () => ask(`${rig.url}/v1/auth?for=nginx`, { headers: another }));
    const answers = await times(5, () => ask(`${nginx.url}/`));
    expect(statuses(answers)).toEqual([200, 200, 200, 429, 429]);
    for (const { headers } of answers) {
      expect(headers.ratelimit).toMatch(/^"req\/ip\/3600";r=\d;t=\d+, "a-rule/);
      expect(headers["ratelimit-policy"]).toMatch(/^"req\/ip\/3600";q=3;w=3600, "a-rule/);
    }
    expect(app.seen).toHaveLength(3);
  });

  it("with the service gone requests pass", async () => {
    await open({ rules: [plainRule] });
    await times(2, () => ask(`${nginx.url}/`));
    await rig.kill();
    expect(new Set(statuses(await times(6, () => ask(`${nginx.url}/`))))).toEqual(new Set([200]));
  });

  it("with the service hung requests pass, in bounded time", async () => {
    await open({ rules: [plainRule] }, 100);
    await rig.hang();
    const answers = await times(3, () => ask(`${nginx.url}/`));
    expect(new Set(statuses(answers))).toEqual(new Set([200]));
    for (const { tookMs } of answers) expect(tookMs).toBeLessThan(2000);
  });

  it("who says a counted header or cookie twice becomes no other client", async () => {
    const { rules, settings } = saidTwice;
    await open({ rules, settings });
    for (const lines of saidTwice.requests)
      expect([lines, await sendLines(nginx.port, lines)]).toEqual([
        lines,
        expect.stringMatching(/^HTTP\/1\.1 403/),
      ]);
    expect(app.seen).toHaveLength(0);
    const once = ["X-API-Key: k", "Cookie: sid=good; sid=good; other=1"];
    expect(await sendLines(nginx.port, once)).toMatch(/^HTTP\/1\.1 200/);
    expect(await sendLines(nginx.port, ["X-API-Key: k", "Cookie: sid=t"])).toMatch(/^HTTP\/1\.1 429/);
  });

  it("an undeclared proxy gets nobody through, and the log says what to do", async () => {
    await open({ rules: [plainRule], settings: { decide: { peers: ["192.0.2.1"] } } });
    const answers = await times(3, () => ask(`${nginx.url}/`));
    expect(statuses(answers)).toEqual([403, 403, 403]);
    expect(rig.calls).toBe(3);
    const told = rig.logged.filter(({ level }) => level === "warn");
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ fields: { peer: "127.0.0.1", code: "TG_PEER_UNDECLARED" } });
  });

  it("no request can make the gate open by its oddity", async () => {
    await open({ rules: [{ name: "none", by: ["ip", "path"], limits: "0 per 1h" }] });
    const port = nginx.port;
    const odd = [
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Odd: a\x01b\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Odd: \xff\xfe\r\n\r\n`,
      `GET /%00%ff\xff?for=nginx HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      `GET http://a/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: a"b\r\nConnection: close\r\n\r\n`,
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc`,
      `GET / HTTP/1.1\r\nHost: a\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      `GET /${"a".repeat(7000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: ${"c".repeat(7000)}\r\nX-More: ${"d".repeat(7000)}\r\n\r\n`,
      `GET / HTTP/1.0\r\n\r\n`,
    ];
    for (const request of odd) {
      const answer = await sendRaw(port, Buffer.from(request, "latin1"));
      const final = answer.replace(/^(HTTP\/1\.1 1\d\d[\s\S]*?\r\n\r\n)+/, "");
      expect(final.slice(0, 12), request.slice(0, 60)).toMatch(/^HTTP\/1\.1 (4\d\d|500)$/);
    }
    expect(app.seen).toHaveLength(0);
  });
});
