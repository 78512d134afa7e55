import { describe, expect, it, onTestFinished } from "vitest";
import type { RatesEvent } from "../../packages/tidegate-server/src/live/events.js";
import type { ClientSeries, Series } from "../../packages/tidegate-server/src/live/series.js";
import { startRedis } from "../servers/index.js";
import { startAdmin } from "./api-serving.js";
import { listening } from "./cli-rig.js";
import { hear, policyOf, startWhole, visit } from "./live-rig.js";
import { configFile, startTidegate, temporaryFolder } from "./running.js";

const soon = { timeout: 15_000, interval: 50 };
const client = "203.0.113.7";

const sum = (row: readonly number[] = []) => row.reduce((one, other) => one + other, 0);
const sumOf = (rates: readonly RatesEvent[]) => ({
  allowed: sum(rates.map(({ totals }) => totals.allowed)),
  refused: sum(rates.map(({ totals }) => totals.refused)),
  judged: sum(rates.map(({ rules }) => rules["req/ip"]?.judged ?? 0)),
});

describe("events of a whole server", () => {
  it("tell what passes and is refused at the proxy, who is busiest and who is held", async () => {
    const { urls } = await startWhole();
    const heard = await hear(urls.admin);
    expect(heard).toMatchObject({
      status: 200,
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
        "x-content-type-options": "nosniff",
      },
    });
    await expect.poll(() => heard.of("held"), soon).toEqual([{ count: 0, newest: [] }]);
    expect(await visit(urls.proxy, client, 5)).toEqual([200, 200, 200, 429, 429]);
    await expect
      .poll(() => sumOf(heard.of<RatesEvent>("rates")), soon)
      .toEqual({ allowed: 3, refused: 2, judged: 5 });
    await expect
      .poll(() => heard.of("busiest").at(-1), soon)
      .toMatchObject({ clients: [{ key: client, total: 5, totalRefused: 2 }] });
    await expect
      .poll(() => heard.of("held").at(-1), soon)
      .toMatchObject({ count: 1, newest: [{ key: client, rule: "req/ip", edges: ["cdn"] }] });
  });

  it("tell each change people make: in the audit, of the policy, and at an edge", async () => {
    const { urls, ask } = await startWhole();
    const heard = await hear(urls.admin);
    await expect.poll(() => heard.of("policy"), soon).toMatchObject([{ version: 1 }]);
    await ask("PUT", `/v1/lists/blocklist/${client}`, { why: "scraper" });
    await expect
      .poll(() => heard.of("audit"), soon)
      .toMatchObject([{ what: "blocklist.add", target: client, why: "scraper" }]);
    expect((await ask("POST", "/v1/policy", { text: policyOf(5) })).status).toBe(201);
    await expect.poll(() => heard.of("policy").at(-1), soon).toMatchObject({ version: 2, source: "api" });
    await ask("POST", "/v1/edges/cdn/mode", { mode: "shadow" });
    await expect
      .poll(() => heard.of("edges").at(-1), soon)
      .toMatchObject({ edges: [{ edge: "cdn", mode: "shadow" }] });
    await expect
      .poll(() => heard.of("audit").map(({ what }) => what), soon)
      .toEqual(["blocklist.add", "policy.api", "edge.mode"]);
  });

  it("go on after the last one heard", async () => {
    const { urls, ask } = await startWhole();
    const first = await hear(urls.admin);
    await expect.poll(() => first.of("policy"), soon).toHaveLength(1);
    await ask("PUT", "/v1/lists/blocklist/203.0.113.1", {});
    await expect.poll(() => first.of("audit"), soon).toHaveLength(1);
    const id = first.of<{ id: number }>("audit")[0]?.id as number;
    expect(first.text()).toContain(`event: audit\nid: ${id}\n`);
    first.leave();
    await ask("PUT", "/v1/lists/blocklist/203.0.113.2", {});
    await ask("PUT", "/v1/lists/blocklist/203.0.113.3", {});
    const again = await hear(urls.admin, { "Last-Event-ID": String(id) });
    await expect
      .poll(() => again.of("audit").map(({ target }) => target), soon)
      .toEqual(["203.0.113.2", "203.0.113.3"]);
    expect((await hear(urls.admin, { "Last-Event-ID": "x" })).status).toBe(400);
  });

  it("end with a word when the server does, which waits for nobody who only listens", async () => {
    const { urls, close } = await startWhole("drain: 10m\n");
    const heard = [await hear(urls.admin), await hear(urls.admin)];
    await expect.poll(() => heard[0]?.of("policy"), soon).toHaveLength(1);
    await close();
    for (const each of heard) {
      await expect.poll(() => each.isOver(), soon).toBe(true);
      expect(each.of("bye")).toMatchObject([{ reason: "ending" }]);
    }
  });

  it("are for at most fifty at once; who comes then is told to come again", async () => {
    const { urls, ask } = await startWhole();
    const heard = await Promise.all(Array.from({ length: 50 }, () => hear(urls.admin)));
    expect(heard.every(({ status }) => status === 200)).toBe(true);
    const { status, json } = await ask("GET", "/v1/events");
    expect([status, json]).toMatchObject([503, { code: "TG_EVENTS_FULL" }]);
    heard[0]?.leave();
    await expect.poll(async () => (await hear(urls.admin)).status, soon).toBe(200);
  });

  it("end with the token they were asked for with", async () => {
    const { urls, ask } = await startWhole();
    const made = await ask("POST", "/v1/tokens", { name: "boss", role: "admin" });
    const boss = { Authorization: `Bearer ${(made.json as { secret: string }).secret}` };
    const res = await fetch(`${urls.admin}/v1/tokens`, {
      method: "POST",
      headers: boss,
      body: JSON.stringify({ name: "wall", role: "viewer" }),
    });
    const wall = { Authorization: `Bearer ${((await res.json()) as { secret: string }).secret}` };
    expect((await hear(urls.admin)).status).toBe(401);
    const [seen, kept] = [await hear(urls.admin, wall), await hear(urls.admin, boss)];
    expect(seen.status).toBe(200);
    await fetch(`${urls.admin}/v1/tokens/wall`, { method: "DELETE", headers: boss });
    await expect.poll(() => seen.of("bye"), soon).toMatchObject([{ reason: "not allowed" }]);
    await expect.poll(() => seen.isOver(), soon).toBe(true);
    expect(kept.isOver()).toBe(false);
  });

  it("need nobody: a HEAD is answered at once, and other methods are refused", async () => {
    const { urls } = await startWhole();
    const head = await fetch(`${urls.admin}/v1/events`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect((await fetch(`${urls.admin}/v1/events`, { method: "POST" })).status).toBe(405);
    expect((await fetch(`${urls.admin}/v1/events?most=1`)).status).toBe(400);
  });
});

describe("series", () => {
  it("have ten minutes by the second, in all, by rule and of a busy client", async () => {
    const { urls, ask } = await startWhole();
    await visit(urls.proxy, client, 5);
    await visit(urls.proxy, "2001:db8::1", 2);
    const read = async () => (await ask("GET", "/v1/series")).json as Series;
    await expect.poll(async () => sum((await read()).totals.allowed), soon).toBe(5);
    const series = await read();
    expect(series).toMatchObject({ stepMs: 1000 });
    expect(series.totals.allowed).toHaveLength(600);
    expect(sum(series.totals.refused)).toBe(2);
    expect(sum(series.rules["req/ip"]?.judged)).toBe(7);
    expect(series.from + 600_000).toBeGreaterThan(Date.now() - 10_000);
    const of = async (ip: string) =>
      ((await ask("GET", `/v1/series/client?ip=${ip}`)).json as { client: ClientSeries | null }).client;
    expect(sum((await of(client))?.requests)).toBe(5);
    expect(sum((await of(client))?.refused)).toBe(2);
    expect(await of("2001:db8::99")).toMatchObject({ key: "2001:db8::/64" });
    expect(await of("203.0.113.99")).toBeNull();
  });

  it.each([
    ["/v1/series?seconds=0", "query.seconds"],
    ["/v1/series?seconds=601", "query.seconds"],
    ["/v1/series?second=1", "query"],
    ["/v1/series/client", "query.ip"],
    ["/v1/series/client?ip=nobody", "query.ip"],
  ])("say what is wrong with %s", async (path, where) => {
    const { ask } = await startWhole();
    const { status, json } = await ask("GET", path);
    expect([status, json]).toMatchObject([400, { code: "TG_REQUEST", path: where }]);
  });

  it("and events are not to be had where nothing meets traffic", async () => {
    const admin = await startAdmin();
    onTestFinished(() => admin.close());
    for (const path of ["/v1/series", `/v1/series/client?ip=${client}`, "/v1/events"])
      expect(await admin.ask("GET", path)).toMatchObject({ status: 404, json: { code: "TG_NOT_FOUND" } });
  });
});

describe("on Redis", () => {
  it("what another process changes is told too", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const store = `store: { kind: redis, url: "${redis.url}" }\n`;
    const [one, other] = [await startWhole(store), await startWhole(store)];
    const heard = await hear(one.urls.admin);
    await expect.poll(() => heard.of("edges"), soon).not.toHaveLength(0);
    await expect.poll(() => heard.of("policy"), soon).not.toHaveLength(0);
    await other.ask("PUT", `/v1/lists/blocklist/${client}`, {});
    await other.ask("POST", "/v1/policy", { text: policyOf(5) });
    await other.ask("POST", "/v1/edges/cdn/mode", { mode: "off" });
    await expect
      .poll(() => heard.of("audit").map(({ what }) => what), soon)
      .toEqual(["blocklist.add", "policy.api", "edge.mode"]);
    await expect.poll(() => heard.of("policy").at(-1), soon).toMatchObject({ source: "api" });
    await expect.poll(() => heard.of("edges").at(-1), soon).toMatchObject({ edges: [{ mode: "off" }] });
    await visit(other.urls.proxy, "203.0.113.9", 7);
    await expect
      .poll(() => heard.of("held").at(-1), soon)
      .toMatchObject({ newest: [{ key: "203.0.113.9" }] });
  }, 60_000);

  it("a store that is gone is told, and one that is back", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const { urls } = await startWhole(`store: { kind: redis, url: "${redis.url}" }\n`);
    const heard = await hear(urls.admin);
    await expect
      .poll(() => heard.of("store"), soon)
      .toEqual([{ kind: "redis", isDegraded: false, data: { kind: "redis", isReachable: true } }]);
    await redis.kill();
    await expect
      .poll(async () => {
        await visit(urls.proxy, client, 1);
        return heard.of("store").at(-1);
      }, soon)
      .toMatchObject({ isDegraded: true, data: { isReachable: false } });
    await redis.restart();
    await expect
      .poll(() => heard.of("store").at(-1), { ...soon, timeout: 30_000 })
      .toMatchObject({ isDegraded: false, data: { isReachable: true } });
    expect(heard.isOver()).toBe(false);
  }, 60_000);

  it("workers are added up, in series and in events", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const folder = temporaryFolder();
    const file = configFile(
      folder,
      `store: { kind: redis, url: "${redis.url}" }\ntrustedProxies: [127.0.0.1]\npolicy:\n${policyOf(10).replace(/^/gm, "  ")}`,
    );
    const { proxy, admin, stop } = await startTidegate({
      args: [
        "--config",
        file,
        "--workers",
        "2",
        "--upstream",
        await listening((_req, res) => res.end("app")),
      ],
      folder,
    });
    const heard = await hear(admin);
    await expect.poll(() => heard.of("policy"), soon).not.toHaveLength(0);
    const answers = await Promise.all(Array.from({ length: 5 }, () => visit(proxy, client, 4)));
    expect(answers.flat().filter((status) => status === 429)).toHaveLength(10);
    const read = async () => (await (await fetch(`${admin}/v1/series?seconds=60`)).json()) as Series;
    await expect.poll(async () => sum((await read()).rules["req/ip"]?.judged), soon).toBe(20);
    expect(sum((await read()).totals.refused)).toBe(10);
    await expect.poll(() => sumOf(heard.of<RatesEvent>("rates")).judged, soon).toBe(20);
    const { client: followed } = (await (await fetch(`${admin}/v1/series/client?ip=${client}`)).json()) as {
      client: ClientSeries;
    };
    expect(sum(followed.requests)).toBe(20);
    expect(await stop()).toBe(0);
    expect(heard.of("bye")).toMatchObject([{ reason: "ending" }]);
  }, 60_000);
});
