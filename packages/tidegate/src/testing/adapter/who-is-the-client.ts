import type { GateOptions, Warning } from "../../gate.js";
import { type Asked, oneConnection, type Told } from "../ask.js";
import type { Stage, Vitest } from "./stage.js";

/** Whom a request is counted for. */
export function whoIsTheClient(
  { expect, it, vi }: Vitest,
  { serving, still, twoPerMinute, headerOf }: Stage,
): void {
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

  it.each<[string, unknown, number]>([
    ["an object", { id: "joe" }, 200],
    ["a promise", Promise.resolve("joe"), 200],
    ["an empty list", [], 200],
    ["false", false, 200],
    ["true", true, 200],
    ["an object that knows its text", { toString: () => "joe" }, 429],
  ])("takes %s for an id only if its text can be one, and says so once", async (_, customer, second) => {
    const onWarning = vi.fn<(warning: Warning) => void>();
    const identify = () => ({ customer: customer as string });
    const { get } = await serving({ ...byCustomer(), identify, onWarning });
    expect([(await get()).status, (await get()).status]).toEqual([200, second]);
    expect(onWarning.mock.calls.map(([{ code }]) => code)).toEqual(second === 200 ? ["TG_HTTP_FAILED"] : []);
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

  it.each<unknown>(["joe", { userId: "joe" }])("says once that identify can not answer %j", async (odd) => {
    const onWarning = vi.fn<(warning: Warning) => void>();
    const identify = () => odd as { user: string };
    const { get } = await serving({ ...byCustomer(), identify, onWarning });
    expect([(await get()).status, (await get()).status]).toEqual([200, 200]);
    expect(onWarning.mock.calls.map(([{ code }]) => code)).toEqual(["TG_HTTP_FAILED"]);
  });

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
}
