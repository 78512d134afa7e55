import { once } from "node:events";
import type { Decision } from "../decision.js";
import type { RateText } from "../duration.js";
import type { Gate, GateOptions, Warning } from "../gate.js";
import type { MountOptions } from "../http/mount-options.js";
import { createGate, fixedWindow, memoryStore } from "../index.js";
import type { Limit } from "../limit.js";
import type { Store } from "../store.js";
import type { Outcome, Subject } from "../subject.js";
import { type Asked, ask, oneConnection, open, type Told } from "./ask.js";
import { virtualClock } from "./virtual-clock.js";

/** The rest of this entry point serves any test runner: only the contract needs vitest. */
const vitest = await import("vitest").catch(() => undefined);

/** What the app behind the gate answers, in no framework's words. */
export interface AppAnswer {
  readonly status?: number;
  /** Sent as `text/plain`, at once or piece by piece. */
  readonly body: string | AsyncIterable<string>;
}

/** The app: told what `decisionOf` says of the request. It may throw. */
export type App = (decision: Decision | undefined) => AppAnswer | Promise<AppAnswer>;

export interface AdapterContractOptions {
  /** Serves the app for every method and path on 127.0.0.1, behind these mounts, outermost first. */
  serve(mounts: readonly MountOptions<unknown>[], app: App): Promise<{ url: string; close(): Promise<void> }>;
  /** A header of what the framework hands to `identify`. */
  headerOf(request: unknown, name: string): string | undefined;
  /** The framework's router takes `/LOGIN` for `/login`. Default false. */
  readonly ignoresCase?: boolean;
}

/** For a machine that has much else to do. */
const patiently = { timeout: 15_000 };

/** 20 seconds into a minute: 40 are left of it. */
const start = 1_700_000_000_000;
const hello: App = () => ({ body: "Hello World!" });

/** What every adapter promises. Run it with vitest on an adapter of your own. */
export function adapterContract(
  name: string,
  { serve, headerOf, ignoresCase }: AdapterContractOptions,
): void {
  if (vitest === undefined)
    throw new Error("adapterContract runs in a vitest test file: npm install --save-dev vitest");
  const { afterEach, describe, expect, it, vi } = vitest;

  describe(`${name} keeps the adapter contract`, () => {
    const closers: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const close of closers.splice(0)) await close();
    });

    /** Serves the app, and answers how to ask it. */
    async function serving(
      mounts: MountOptions<unknown> | readonly MountOptions<unknown>[],
      app: App = hello,
    ): Promise<{ url: string; get: (asked?: Asked) => Promise<Told> }> {
      const { url, close } = await serve(Array.isArray(mounts) ? mounts : [mounts], app);
      closers.push(close);
      return { url, get: (asked) => ask(url, asked) };
    }

    function still(options: Omit<GateOptions, "store">): GateOptions {
      return { ...options, store: memoryStore({ clock: virtualClock(start) }) };
    }

    function twoPerMinute(): { limit: "2 per minute"; store: Store } {
      return { limit: "2 per minute", store: memoryStore({ clock: virtualClock(start) }) };
    }

    describe("letting in", () => {
      it("passes the app's answer on and tells the client its limits", async () => {
        const { get } = await serving(twoPerMinute());
        const { status, headers, body } = await get();
        expect({ status, body }).toEqual({ status: 200, body: "Hello World!" });
        expect(headers).toMatchObject({
          "content-type": expect.stringContaining("text/plain"),
          "ratelimit-policy": '"requests (2 per minute)/60";q=2;w=60',
          ratelimit: '"requests (2 per minute)/60";r=1;t=40',
        });
        expect(headers).not.toHaveProperty("retry-after");
        expect(headers).not.toHaveProperty("tidegate-decision");
        expect((await get()).headers.ratelimit).toBe('"requests (2 per minute)/60";r=0;t=40');
      });

      it("names every level of every rule that applies", async () => {
        const { get } = await serving(
          still({
            rules: [
              { name: "req/ip", by: "ip", limits: ["300 per 5m", "600 per 30m"] },
              { name: 'a "quoted\\" name', by: "ip", limits: ["5 per 250ms"] },
              { name: "elsewhere", only: "/api", by: "ip", limits: ["1 per hour"] },
              { name: "watched", by: "ip", limits: ["1 per day"], mode: "shadow" },
            ],
          }),
        );
        const { headers } = await get();
        expect(headers["ratelimit-policy"]).toBe(
          '"req/ip/300";q=300;w=300, "req/ip/1800";q=600;w=1800, "a \\"quoted\\\\\\" name/0.25";q=5;w=1',
        );
        expect(headers.ratelimit).toBe(
          '"req/ip/300";r=299;t=100, "req/ip/1800";r=599;t=1000, "a \\"quoted\\\\\\" name/0.25";r=4;t=1',
        );
      });

      it.each([
        ["draft-7", { "ratelimit-policy": "2;w=60", ratelimit: "limit=2, remaining=1, reset=40" }],
        [
          "draft-6",
          {
            "ratelimit-policy": "2;w=60",
            "ratelimit-limit": "2",
            "ratelimit-remaining": "1",
            "ratelimit-reset": "40",
          },
        ],
        [
          "legacy",
          {
            "x-ratelimit-limit": "2",
            "x-ratelimit-remaining": "1",
            "x-ratelimit-reset": `${start / 1000 + 40}`,
          },
        ],
        [false, {}],
      ] as const)("writes headers as %s", async (form, expected) => {
        const { get } = await serving({ ...twoPerMinute(), headers: form });
        expect(limitHeadersOf(await get())).toEqual(expected);
      });

      it("never counts and never marks a safelisted client", async () => {
        const { get } = await serving({ ...twoPerMinute(), safelist: ["127.0.0.0/8"] });
        for (let i = 0; i < 5; i++) {
          const told = await get();
          expect(told.status).toBe(200);
          expect(limitHeadersOf(told)).toEqual({});
        }
      });

      it("tells the app what the gate decided", async () => {
        const seen: (Decision | undefined)[] = [];
        const { get } = await serving(twoPerMinute(), (decision) => {
          seen.push(decision);
          return { body: "" };
        });
        await get();
        expect(seen).toEqual([
          expect.objectContaining({ allowed: true, reason: "within-limits", id: expect.any(String) }),
        ]);
      });

      it("lets exactly as many in as the limit says when all come at once", async () => {
        const app = vi.fn(hello);
        const { get } = await serving(
          still({ rules: [{ name: "all", by: "ip", limits: ["5 per minute"] }] }),
          app,
        );
        const statuses = (await Promise.all(Array.from({ length: 20 }, () => get()))).map(
          ({ status }) => status,
        );
        expect(statuses.filter((status) => status === 200)).toHaveLength(5);
        expect(statuses.filter((status) => status === 429)).toHaveLength(15);
        expect(app).toHaveBeenCalledTimes(5);
      });

      it("counts HEAD and OPTIONS like any other", async () => {
        const { get } = await serving(twoPerMinute());
        expect(await get({ method: "HEAD" })).toMatchObject({
          status: 200,
          body: "",
          headers: { ratelimit: '"requests (2 per minute)/60";r=1;t=40' },
        });
        expect((await get({ method: "OPTIONS" })).headers.ratelimit).toBe(
          '"requests (2 per minute)/60";r=0;t=40',
        );
        expect((await get()).status).toBe(429);
      });
    });

    describe("refusing", () => {
      async function refused(options: MountOptions<unknown>, asked?: Asked, app?: App): Promise<Told> {
        const { get } = await serving(options, app);
        await get();
        await get();
        return get(asked);
      }

      it("answers 429 as a problem, and the app never hears of it", async () => {
        const app = vi.fn(hello);
        const { status, headers, body } = await refused(twoPerMinute(), {}, app);
        expect(status).toBe(429);
        expect(app).toHaveBeenCalledTimes(2);
        expect(headers).toMatchObject({
          "content-type": "application/problem+json",
          "content-length": `${Buffer.byteLength(body)}`,
          "cache-control": "no-store",
          vary: "Accept",
          "retry-after": "40",
          "ratelimit-policy": '"requests (2 per minute)/60";q=2;w=60',
          ratelimit: '"requests (2 per minute)/60";r=0;t=40',
        });
        expect(JSON.parse(body)).toEqual({
          type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
          title: "Too many requests",
          status: 429,
          detail: "Too many requests. Try again in 40 seconds.",
          decision: headers["tidegate-decision"],
          retryAfterMs: 40_000,
          rule: "requests (2 per minute)/60",
          "violated-policies": ["requests (2 per minute)/60"],
        });
      });

      it("answers in text to those who ask for it", async () => {
        const { headers, body } = await refused(twoPerMinute(), { headers: { accept: "text/plain" } });
        expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
        expect(headers["content-length"]).toBe(`${Buffer.byteLength(body)}`);
        expect(body).toBe(
          `Too many requests. Try again in 40 seconds.\nDecision ${headers["tidegate-decision"]}\n`,
        );
      });

      it("answers HEAD with the same headers and no body", async () => {
        const { get } = await serving(twoPerMinute());
        await get();
        await get();
        const whole = await get();
        const head = await get({ method: "HEAD" });
        expect(head).toMatchObject({ status: 429, body: "" });
        const compared = [
          "content-type",
          "cache-control",
          "vary",
          "retry-after",
          "ratelimit",
          "ratelimit-policy",
        ];
        for (const name of compared) expect(head.headers[name], name).toBe(whole.headers[name]);
        expect(head.headers["content-length"]).toBe(whole.headers["content-length"]);
      });

      it("answers 403 to the blocklisted, on every path", async () => {
        const app = vi.fn(hello);
        const { get } = await serving({ ...twoPerMinute(), blocklist: ["127.0.0.1"] }, app);
        for (const target of ["/", "/any/where?x=1"]) {
          const { status, headers, body } = await get({ target });
          expect(status).toBe(403);
          expect(headers).not.toHaveProperty("retry-after");
          expect(JSON.parse(body)).toMatchObject({
            title: "Forbidden",
            status: 403,
            decision: headers["tidegate-decision"],
          });
        }
        expect(app).not.toHaveBeenCalled();
      });

      it("reveals neither number nor time of a rule that is not exposed", async () => {
        const gate = still({
          rules: [
            { name: "secret", by: "ip", limits: ["2 per minute"], expose: false },
            { name: "open", by: "ip", limits: ["50 per minute"] },
          ],
        });
        const { get } = await serving(gate);
        const first = await get();
        expect(first.headers["ratelimit-policy"]).toBe('"open/60";q=50;w=60');
        await get();
        const { status, headers, body } = await get();
        expect(status).toBe(429);
        expect(limitHeadersOf({ status, headers, body })).toEqual({});
        expect(headers).not.toHaveProperty("retry-after");
        expect(JSON.parse(body)).toEqual({
          type: expect.any(String),
          title: "Too many requests",
          status: 429,
          detail: "Too many requests. Try again later.",
          decision: headers["tidegate-decision"],
        });
      });

      it("answers with the status it was told to", async () => {
        const { status, headers, body } = await refused({ ...twoPerMinute(), status: 503 });
        expect(status).toBe(503);
        expect(headers["retry-after"]).toBe("40");
        expect(JSON.parse(body)).toMatchObject({
          status: 503,
          type: "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
        });
      });

      it.each([
        ["a text", () => "Über Rate Limit", "text/plain; charset=utf-8", "Über Rate Limit"],
        [
          "parts",
          () => ({ headers: { "content-type": "text/plain", "X-Own": "1" }, body: "Over Rate Limit" }),
          "text/plain",
          "Over Rate Limit",
        ],
        ["JSON", () => ({ body: { error: "slow down" } }), "application/json", '{"error":"slow down"}'],
        [
          "a Response",
          async () => new Response("<p>slow down", { status: 429, headers: { "content-type": "text/html" } }),
          "text/html",
          "<p>slow down",
        ],
      ])("answers the app's own refusal: %s", async (_, refuse, type, expected) => {
        const { status, headers, body } = await refused({ ...twoPerMinute(), refuse });
        expect({ status, body }).toEqual({ status: 429, body: expected });
        expect(headers["content-type"]).toBe(type);
        expect(headers["content-length"]).toBe(`${Buffer.byteLength(expected)}`);
        expect(headers["retry-after"]).toBe("40");
        expect(headers).not.toHaveProperty("vary");
      });

      it("answers the app's own status, and as usual when its refusal fails", async () => {
        expect(
          await refused({ ...twoPerMinute(), refuse: () => ({ status: 420, body: "calm" }) }),
        ).toMatchObject({
          status: 420,
          body: "calm",
        });
        const onWarning = vi.fn();
        const refuse = () => {
          throw new Error("no such template");
        };
        expect((await refused({ ...twoPerMinute(), refuse, onWarning })).status).toBe(429);
        expect(onWarning).toHaveBeenCalledWith(expect.objectContaining({ code: "TG_HTTP_FAILED" }));
      });

      it("goes on with the connection after refusing an upload", async () => {
        const { get } = await serving(
          still({ rules: [{ name: "post", only: { method: "POST" }, by: "ip", limits: ["0 per minute"] }] }),
        );
        const agent = oneConnection();
        try {
          const upload = { method: "POST", body: "x".repeat(200_000), agent };
          expect((await get(upload)).status).toBe(429);
          expect((await get({ agent })).status).toBe(200);
        } finally {
          agent.destroy();
        }
      });
    });

    describe("who is the client", () => {
      const remainingOf = ({ headers }: Told) => /;r=(\d+)/.exec(String(headers.ratelimit))?.[1];
      const via = (chain: string): Asked => ({ headers: { "x-forwarded-for": chain } });

      it("believes no header by default, and says so once", async () => {
        const onWarning = vi.fn<(warning: Warning) => void>();
        const { get } = await serving({ ...twoPerMinute(), onWarning });
        expect((await get(via("203.0.113.1"))).status).toBe(200);
        expect((await get(via("203.0.113.2"))).status).toBe(200);
        expect((await get(via("203.0.113.3"))).status).toBe(429);
        expect(onWarning.mock.calls.map(([{ code }]) => code)).toEqual(["TG_PROXY_UNTRUSTED"]);
      });

      it("believes a trusted proxy, from the right, and nothing further left", async () => {
        const { get } = await serving({ ...twoPerMinute(), trustedProxies: ["127.0.0.1", "10.0.0.0/8"] });
        expect(remainingOf(await get(via("203.0.113.1, 10.1.1.1")))).toBe("1");
        expect(remainingOf(await get(via("203.0.113.2")))).toBe("1");
        expect(remainingOf(await get(via("198.51.100.66, 203.0.113.1")))).toBe("0");
        expect((await get(via("198.51.100.67, 203.0.113.1"))).status).toBe(429);
        expect(remainingOf(await get({ headers: { "x-real-ip": "203.0.113.9" } }))).toBe("1");
      });

      it("tells clients apart that a proxy sends by one connection", async () => {
        const { get } = await serving({ ...twoPerMinute(), trustedProxies: ["loopback"] });
        const agent = oneConnection();
        try {
          const remaining: (string | undefined)[] = [];
          for (const client of ["203.0.113.1", "203.0.113.2", "203.0.113.2", "203.0.113.1", "203.0.113.3"])
            remaining.push(remainingOf(await get({ ...via(client), agent })));
          expect(remaining).toEqual(["1", "1", "0", "0", "1"]);
        } finally {
          agent.destroy();
        }
      });

      it("reads the one header it is told to", async () => {
        const options = { trustedProxies: ["loopback"], clientIpHeader: "CF-Connecting-IP" };
        const { get } = await serving({ ...twoPerMinute(), ...options });
        const headers = (ip: string) => ({ "cf-connecting-ip": ip, "x-forwarded-for": "203.0.113.7" });
        expect(remainingOf(await get({ headers: headers("203.0.113.1") }))).toBe("1");
        expect(remainingOf(await get({ headers: headers("203.0.113.2") }))).toBe("1");
        expect(remainingOf(await get({ headers: headers("203.0.113.1") }))).toBe("0");
      });

      it("warns when a safelisted address sends proxy headers it is not trusted with", async () => {
        const onWarning = vi.fn<(warning: Warning) => void>();
        const { get } = await serving({ ...twoPerMinute(), safelist: ["127.0.0.1"], onWarning });
        for (let i = 0; i < 3; i++) await get(via("203.0.113.1"));
        expect(onWarning.mock.calls.map(([{ code }]) => code).sort()).toEqual([
          "TG_PROXY_UNTRUSTED",
          "TG_SAFELISTED_PROXY",
        ]);
      });

      it("does not warn of a safelisted client behind a trusted proxy", async () => {
        const onWarning = vi.fn();
        const options = { trustedProxies: ["127.0.0.1"], safelist: ["203.0.113.1"], onWarning };
        const { get } = await serving({ ...twoPerMinute(), ...options });
        for (let i = 0; i < 3; i++) expect((await get(via("203.0.113.1"))).status).toBe(200);
        expect(onWarning).not.toHaveBeenCalled();
      });

      const byCustomer = (): GateOptions =>
        still({
          rules: [
            { name: "customer", by: "customer", limits: ["1 per minute"] },
            { name: "ip", by: "ip", limits: ["10 per minute"] },
          ],
        });

      it("counts those whom the app identifies", async () => {
        const identify = (request: unknown) => ({ customer: headerOf(request, "x-session") });
        const { get } = await serving({ ...byCustomer(), identify });
        const as = (customer: string): Asked => ({ headers: { "x-session": customer } });
        expect((await get(as("joe"))).status).toBe(200);
        expect((await get(as("joe"))).status).toBe(429);
        expect((await get(as("luc"))).status).toBe(200);
        expect((await get()).headers["ratelimit-policy"]).toBe('"ip/60";q=10;w=60');
      });

      it("counts an id that is a number, or none at all", async () => {
        const facts: unknown[] = [{ customer: 42 }, { customer: 42 }, { customer: null }, null];
        const identify = () => facts.shift() as { customer: string };
        const { get } = await serving({ ...byCustomer(), identify });
        const statuses = [await get(), await get(), await get(), await get()].map(({ status }) => status);
        expect(statuses).toEqual([200, 429, 200, 200]);
      });

      it("knows nobody when the app's identify fails, and still counts", async () => {
        const onWarning = vi.fn();
        const identify = async () => {
          throw new Error("bad token");
        };
        const { get } = await serving({ ...byCustomer(), identify, onWarning });
        expect((await get()).headers.ratelimit).toBe('"ip/60";r=9;t=40');
        expect((await get()).headers.ratelimit).toBe('"ip/60";r=8;t=40');
        expect(onWarning).toHaveBeenCalledTimes(1);
      });

      it.each<unknown>(["joe", { userId: "joe" }])(
        "says once that identify can not answer %j",
        async (odd) => {
          const onWarning = vi.fn<(warning: Warning) => void>();
          const identify = () => odd as { user: string };
          const { get } = await serving({ ...byCustomer(), identify, onWarning });
          expect([(await get()).status, (await get()).status]).toEqual([200, 200]);
          expect(onWarning.mock.calls.map(([{ code }]) => code)).toEqual(["TG_HTTP_FAILED"]);
        },
      );

      it("takes a basic-auth name for a claimed account, never for a user", async () => {
        const { get } = await serving(
          still({
            rules: [
              { name: "account", by: "account", limits: ["1 per minute"] },
              { name: "user", by: ["user", "customer"], limits: ["0 per minute"] },
            ],
          }),
        );
        const as = (name: string): Asked => ({
          headers: { authorization: `Basic ${Buffer.from(`${name}:secret`).toString("base64")}` },
        });
        expect((await get(as("joe"))).status).toBe(200);
        expect((await get(as("joe"))).status).toBe(429);
        expect((await get(as("luc"))).status).toBe(200);
        expect((await get({ headers: { authorization: "Basic !" } })).status).toBe(200);
      });
    });

    describe("what is asked for", () => {
      it("is told to the gate as it was sent", async () => {
        const gate = createGate(loosest);
        const subjects: Subject[] = [];
        gate.on("decision", ({ subject }) => subjects.push(subject));
        const { get } = await serving({ gate });
        await get({ method: "POST", target: "/a/b?c=d", headers: { host: "shop.example:81", "x-one": "1" } });
        await get({ target: "http://shop.example/x" });
        const [first, second] = subjects as [Subject, Subject];
        const { method, host, user, customer, account } = first;
        expect({ method, host }).toEqual({ method: "POST", host: "shop.example:81" });
        expect([user, customer, account]).toEqual([undefined, undefined, undefined]);
        expect([first.path, second.path]).toEqual(["/a/b?c=d", "/x"]);
        expect([first.header("X-One"), first.header("constructor")]).toEqual(["1", undefined]);
      });

      it.each([
        "/login",
        "/login/",
        "/login?next=/",
        "/login/x",
        "//login",
        "/./x/../login",
        "/%6Cogin",
        "/login#there",
        "http://elsewhere.example/login",
        "http://elsewhere.example/login?x",
      ])("finds the rule for /login when asked for %s", async (target) => {
        const { get } = await serving(
          still({ rules: [{ name: "login", only: "/login", by: "ip", limits: ["0 per minute"] }] }),
        );
        expect((await get({ target })).status).toBe(429);
      });

      it.each(["/", "/loginx", "/x/login", "/?/login"])("leaves %s alone", async (target) => {
        const { get } = await serving(
          still({ rules: [{ name: "login", only: "/login", by: "ip", limits: ["0 per minute"] }] }),
        );
        expect((await get({ target })).status).toBe(200);
      });

      it(`takes /LOGIN for ${ignoresCase ? "/login, as its router does" : "another path"}`, async () => {
        const { get } = await serving(
          still({ rules: [{ name: "login", only: "/login", by: "ip", limits: ["0 per minute"] }] }),
        );
        expect((await get({ target: "/LOGIN" })).status).toBe(ignoresCase ? 429 : 200);
      });
    });

    describe("finishing", () => {
      const loose = (): GateOptions =>
        still({ rules: [{ name: "all", by: "ip", limits: ["100 per minute"] }] });

      it.each([200, 401, 500])("tells the gate of an answer %d, once", async (status) => {
        const { gate, outcomes } = watched(createGate(loose()));
        const { get } = await serving({ gate }, () => ({ status, body: "x" }));
        expect((await get()).status).toBe(status);
        await vi.waitFor(() => expect(outcomes).toEqual([{ status }]), patiently);
        expect((await get({ method: "HEAD" })).status).toBe(status);
        await vi.waitFor(() => expect(outcomes).toEqual([{ status }, { status }]), patiently);
      });

      it("tells the gate of a refusal, once", async () => {
        const { gate, outcomes } = watched(
          createGate(still({ rules: [{ name: "none", by: "ip", limits: ["0 per minute"] }] })),
        );
        const { get } = await serving({ gate });
        expect((await get()).status).toBe(429);
        await vi.waitFor(() => expect(outcomes).toEqual([{ status: 429 }]), patiently);
      });

      it("waits for the end of an answer that comes piece by piece", async () => {
        const { gate, outcomes } = watched(createGate(loose()));
        let release = () => {};
        const released = new Promise<void>((resolve) => {
          release = resolve;
        });
        async function* pieces() {
          yield "one ";
          await released;
          yield "two";
        }
        const { url } = await serving({ gate }, () => ({ body: pieces() }));
        const sent = open(url, {}).end();
        const [response] = await once(sent, "response");
        const [first] = await once(response, "data");
        expect(String(first)).toBe("one ");
        expect(outcomes).toEqual([]);
        let rest = "";
        response.on("data", (piece: Buffer) => {
          rest += piece;
        });
        release();
        await once(response, "end");
        expect(rest).toBe("two");
        await vi.waitFor(() => expect(outcomes).toEqual([{ status: 200 }]), patiently);
      });

      it("finishes when the client leaves in the middle of an answer", async () => {
        const { gate, outcomes } = watched(createGate(loose()));
        async function* endless() {
          for (;;) {
            yield "x".repeat(1000);
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        }
        const { url } = await serving({ gate }, () => ({ body: endless() }));
        const sent = open(url, {}).end();
        const [response] = await once(sent, "response");
        await once(response, "data");
        response.on("error", () => {});
        sent.destroy();
        await vi.waitFor(() => expect(outcomes).toHaveLength(1), { timeout: 5000 });
      });

      it("finishes without a status when the client leaves before there is an answer", async () => {
        const { gate, outcomes } = watched(createGate(loose()));
        let arrived = () => {};
        const arrival = new Promise<void>((resolve) => {
          arrived = resolve;
        });
        let answer = (_: AppAnswer) => {};
        const { url } = await serving({ gate }, () => {
          arrived();
          return new Promise((resolve) => {
            answer = resolve;
          });
        });
        const sent = open(url, {}).end();
        sent.on("error", () => {});
        await arrival;
        sent.destroy();
        await vi.waitFor(() => expect(outcomes).toEqual([{}]), { timeout: 5000 });
        answer({ body: "too late" });
      });

      it("answers and finishes when the app throws", async () => {
        const log = vi.spyOn(console, "error").mockImplementation(() => {});
        const { gate, outcomes } = watched(createGate(loose()));
        const { get } = await serving({ gate }, async () => {
          throw new Error("a fault of the app");
        });
        expect((await get()).status).toBe(500);
        await vi.waitFor(() => expect(outcomes).toHaveLength(1), patiently);
        expect([{}, { status: 500 }]).toContainEqual(outcomes[0]);
        log.mockRestore();
      });

      it("gives back what does not count: only failures use up a login's limit", async () => {
        let status = 200;
        const { gate, outcomes } = watched(
          createGate(
            still({ rules: [{ name: "login", by: "ip", limits: ["2 per minute"], count: "failures" }] }),
          ),
        );
        const { get } = await serving({ gate }, () => ({ status, body: "" }));
        async function settled(): Promise<number> {
          const before = outcomes.length;
          const told = await get();
          await vi.waitFor(() => expect(outcomes).toHaveLength(before + 1), patiently);
          return told.status;
        }
        for (let i = 0; i < 5; i++) expect(await settled()).toBe(200);
        status = 401;
        expect([await settled(), await settled(), await settled()]).toEqual([401, 401, 429]);
      });

      it("lets go of a delayed request whose client has left", async () => {
        const app = vi.fn(hello);
        const { gate, outcomes } = watched(
          createGate({
            rules: [{ name: "slow", by: "ip", limits: ["1 per minute"], action: "delay", maxDelay: "2m" }],
          }),
        );
        const { url, get } = await serving({ gate }, app);
        await get();
        await vi.waitFor(() => expect(outcomes).toEqual([{ status: 200 }]), patiently);
        const sent = open(url, {}).end();
        sent.on("error", () => {});
        await vi.waitFor(() => expect(gate.metrics().waiting).toBe(1), { timeout: 5000 });
        sent.destroy();
        await vi.waitFor(() => expect(outcomes).toEqual([{ status: 200 }, {}]), { timeout: 5000 });
        expect(gate.metrics().waiting).toBe(0);
        expect(app).toHaveBeenCalledTimes(1);
      });
    });

    describe("misuse", () => {
      it("charges once when the same gate is mounted twice, and says so once", async () => {
        const onWarning = vi.fn<(warning: Warning) => void>();
        const gate = createGate(still({ rules: [{ name: "all", by: "ip", limits: ["2 per minute"] }] }));
        const { get } = await serving([
          { gate, onWarning },
          { gate, onWarning },
        ]);
        expect((await get()).headers.ratelimit).toBe('"all/60";r=1;t=40');
        expect((await get()).status).toBe(200);
        expect((await get()).status).toBe(429);
        expect(onWarning.mock.calls.map(([{ code }]) => code)).toEqual(["TG_MOUNTED_TWICE"]);
      });

      it.each<[string, Limit | RateText, Limit | RateText]>([
        ["texts", "2 per minute", "3 per minute"],
        ["limits", fixedWindow({ limit: 2, window: "1m" }), fixedWindow({ limit: 3, window: "1m" })],
      ])("counts mounts of different %s apart, also in one store", async (_, outer, inner) => {
        const { store } = twoPerMinute();
        const { get } = await serving([
          { limit: outer, store },
          { limit: inner, store },
        ]);
        expect([await get(), await get(), await get()].map(({ status }) => status)).toEqual([200, 200, 429]);
      });

      it("tells the limits of both when two gates are passed", async () => {
        const { get } = await serving([
          still({ rules: [{ name: "outer", by: "ip", limits: ["9 per minute"] }] }),
          still({ rules: [{ name: "inner", by: "ip", limits: ["5 per minute"] }] }),
        ]);
        const { headers } = await get();
        const members = String(headers["ratelimit-policy"]).split(", ").sort();
        expect(members).toEqual(['"inner/60";q=5;w=60', '"outer/60";q=9;w=60']);
      });

      it("goes on without a gate that fails, and says so once", async () => {
        const onWarning = vi.fn<(warning: Warning) => void>();
        const whole = createGate(loosest);
        const gate: Gate = { ...whole, decide: () => Promise.reject(new Error("broken")) };
        const { get } = await serving({ gate, onWarning });
        expect((await get()).status).toBe(200);
        expect((await get()).status).toBe(200);
        expect(onWarning.mock.calls.map(([{ code }]) => code)).toEqual(["TG_HTTP_FAILED"]);
      });

      it("answers as usual when onWarning throws", async () => {
        const log = vi.spyOn(console, "error").mockImplementation(() => {});
        const onWarning = () => {
          throw new Error("no logger");
        };
        const { get } = await serving({ ...twoPerMinute(), onWarning });
        expect((await get({ headers: { "x-forwarded-for": "203.0.113.1" } })).status).toBe(200);
        expect((await get()).headers.ratelimit).toBe('"requests (2 per minute)/60";r=0;t=40');
        expect(log).toHaveBeenCalledTimes(1);
        log.mockRestore();
      });

      it.each([
        ["an unknown option", { limit: "1 per minute", limti: 1 }, "TG_OPTION_UNKNOWN"],
        ["nothing to limit", { headers: false }, "TG_MOUNT"],
        ["rules beside a gate", { gate: createGate(loosest), rules: [] }, "TG_MOUNT"],
        ["a limit beside rules", { ...loosest, limit: "1 per minute" }, "TG_MOUNT"],
        ["a request in place of options", { method: "GET", headers: {} }, "TG_MOUNT"],
        ["an identify that is no function", { limit: "1 per minute", identify: "user" }, "TG_HOOK"],
        ["a refuse that is no function", { limit: "1 per minute", refuse: { status: 420 } }, "TG_HOOK"],
        ["no gate", { gate: {} }, "TG_MOUNT"],
        ["a limit that is none", { limit: "5 per minüte", store: memoryStore() }, "TG_RATE"],
        ["a status that does not refuse", { limit: "1 per minute", status: 200 }, "TG_STATUS"],
        ["headers of no form", { limit: "1 per minute", headers: "draft-12" }, "TG_HEADERS"],
        ["a proxy that is none", { limit: "1 per minute", trustedProxies: true }, "TG_TRUSTED_PROXIES"],
      ])("refuses %s when built", async (_, options, code) => {
        const built = async () => serve([options as unknown as MountOptions<unknown>], hello);
        await expect(built()).rejects.toMatchObject({ code });
      });
    });
  });
}

const loosest: GateOptions = { rules: [{ name: "all", by: "ip", limits: ["1000 per minute"] }] };

function limitHeadersOf({ headers }: Told): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => /ratelimit/.test(name)));
}

/** A gate that notes how its decisions are finished. */
function watched(gate: Gate): { gate: Gate; outcomes: Outcome[] } {
  const outcomes: Outcome[] = [];
  async function decide(...asked: Parameters<Gate["decide"]>): Promise<Decision> {
    const decision = await gate.decide(...asked);
    return {
      ...decision,
      finish(outcome = {}) {
        outcomes.push(outcome);
        return decision.finish(outcome);
      },
    };
  }
  return { gate: { ...gate, decide }, outcomes };
}
