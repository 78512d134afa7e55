import type { MountOptions } from "../../http/mount-options.js";
import { type Asked, oneConnection, type Told } from "../ask.js";
import { type App, hello } from "./app.js";
import { limitHeadersOf, type Stage, type Vitest } from "./stage.js";

/** What a client that may not pass is told. */
export function refusing({ expect, it, vi }: Vitest, { serving, still, twoPerMinute }: Stage): void {
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

  it("answers 503 without numbers when the store is out of reach and nobody is to pass", async () => {
    const app = vi.fn(hello);
    const gone = () => Promise.reject(new Error("gone"));
    const store = { decide: gone, peek: gone, refund: gone, hold: gone, forget: gone };
    const denying = { ...twoPerMinute(), store, onStoreFailure: "deny", onWarning: () => {} } as const;
    const { get } = await serving(denying, app);
    const { status, headers, body } = await get();
    expect(status).toBe(503);
    expect(limitHeadersOf({ status, headers, body })).toEqual({});
    expect(headers["retry-after"]).toBe("1");
    expect(JSON.parse(body)).not.toHaveProperty("violated-policies");
    expect(app).not.toHaveBeenCalled();
    const { get: getOwn } = await serving({ ...denying, status: 420 });
    expect((await getOwn()).status).toBe(420);
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
    expect(await refused({ ...twoPerMinute(), refuse: () => ({ status: 420, body: "calm" }) })).toMatchObject(
      {
        status: 420,
        body: "calm",
      },
    );
    const onWarning = vi.fn();
    const refuse = () => {
      throw new Error("no such template");
    };
    expect((await refused({ ...twoPerMinute(), refuse, onWarning })).status).toBe(429);
    expect(onWarning).toHaveBeenCalledWith(expect.objectContaining({ code: "TG_HTTP_FAILED" }));
  });

  it.each<[string, unknown]>([
    ["a letter no header can have", { headers: { "X-Own": "\u2603" }, body: "slow" }],
    ["a line break in a header", { headers: { "X-Own": "a\r\nSet-Cookie: x=1" }, body: "slow" }],
    ["a status that is none", { status: 99, body: "slow" }],
  ])("answers as usual, in one piece, when the app's refusal can not be sent: %s", async (_, own) => {
    const onWarning = vi.fn();
    const refuse = () => own as { body: string };
    const { status, headers, body } = await refused({ ...twoPerMinute(), refuse, onWarning });
    expect(status).toBe(429);
    expect(headers).toMatchObject({ "content-length": `${Buffer.byteLength(body)}`, "retry-after": "40" });
    expect(JSON.parse(body)).toMatchObject({ title: "Too many requests" });
    expect(headers).not.toHaveProperty("x-own");
    expect(headers).not.toHaveProperty("set-cookie");
    expect(onWarning).toHaveBeenCalledWith(expect.objectContaining({ code: "TG_HTTP_FAILED" }));
  });

  it("sends every cookie of the app's refusal, and no body where its status has none", async () => {
    const headers = new Headers([
      ["location", "/calm"],
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ]);
    const moved = await refused({
      ...twoPerMinute(),
      refuse: () => new Response("", { status: 302, headers }),
    });
    expect(moved).toMatchObject({
      status: 302,
      headers: { location: "/calm", "set-cookie": ["a=1", "b=2"] },
    });
    const empty = await refused({ ...twoPerMinute(), refuse: () => ({ status: 204, body: "slow" }) });
    expect(empty).toMatchObject({ status: 204, body: "" });
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
}
