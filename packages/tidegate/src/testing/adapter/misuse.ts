import type { RateText } from "../../duration.js";
import type { Gate, Warning } from "../../gate.js";
import type { MountOptions } from "../../http/mount-options.js";
import { createGate, fixedWindow, memoryStore } from "../../index.js";
import type { Limit } from "../../limit.js";
import { hello } from "./app.js";
import { loosest, type Stage, type Vitest } from "./stage.js";

/** What happens when it is mounted wrongly. */
export function misuse({ expect, it, vi }: Vitest, { serving, still, twoPerMinute, serve }: Stage): void {
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

  it.each([
    [
      "draft-11",
      "the limits of both, the outer's first",
      { "ratelimit-policy": '"outer/60";q=9;w=60, "inner/60";q=5;w=60' },
    ],
    ["draft-6", "those of the inner", { "ratelimit-limit": "5", "ratelimit-remaining": "4" }],
    ["legacy", "those of the inner", { "x-ratelimit-limit": "5", "x-ratelimit-remaining": "4" }],
  ] as const)("tells in %s, when two gates are passed, %s", async (headers, _, told) => {
    const { get } = await serving([
      { ...still({ rules: [{ name: "outer", by: "ip", limits: ["9 per minute"] }] }), headers },
      { ...still({ rules: [{ name: "inner", by: "ip", limits: ["5 per minute"] }] }), headers },
    ]);
    expect((await get()).headers).toMatchObject(told);
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

  it("says of each of the app's functions that it fails, once", async () => {
    const onWarning = vi.fn<(warning: Warning) => void>();
    const fail = () => {
      throw new Error("a fault of the app");
    };
    const none = still({ rules: [{ name: "none", by: "ip", limits: ["0 per minute"] }] });
    const { get } = await serving({ ...none, identify: fail, refuse: fail, onWarning });
    expect([(await get()).status, (await get()).status]).toEqual([429, 429]);
    expect(onWarning.mock.calls.map(([{ message }]) => message.split(" ")[0])).toEqual([
      "identify",
      "refuse",
    ]);
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
}
