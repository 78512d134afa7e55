import type { Decision } from "../../decision.js";
import { hello } from "./app.js";
import { limitHeadersOf, type Stage, start, type Vitest } from "./stage.js";

/** What a client that may pass is told. */
export function lettingIn({ expect, it, vi }: Vitest, { serving, still, twoPerMinute }: Stage): void {
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
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => get()))).map(({ status }) => status);
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
}
