import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { AuditEntry } from "../data.js";
import { type LiveOptions, openLive } from "./open-live.js";

const silence = { trace() {}, debug() {}, info() {}, warn() {}, error() {} } as unknown as LiveOptions["log"];
const soon = { timeout: 15_000, interval: 20 };

/** Live data of one's own making, behind a real server. */
async function rig(options: { most?: number; isStillAllowed?: () => Promise<boolean> } = {}) {
  const looked = { state: 0, audit: 0, policy: 0 };
  const facts = { version: 1, degraded: false };
  const entries: AuditEntry[] = [];
  const live = openLive({
    told: async () => [],
    data: {
      kind: "embedded",
      audit: {
        add: async () => entries[0] as AuditEntry,
        async list({ most = 100, before = Number.POSITIVE_INFINITY } = {}) {
          looked.audit++;
          return [...entries]
            .reverse()
            .filter(({ id }) => id < before)
            .slice(0, most);
        },
      },
      offenders: undefined as never,
      edgeBook: undefined as never,
    },
    async state() {
      looked.state++;
      return { metrics: { degraded: facts.degraded }, busiest: [] };
    },
    store: { kind: "memory" },
    policy() {
      looked.policy++;
      return { ...facts };
    },
    log: silence,
    ...(options.most !== undefined && { most: options.most }),
  });
  const responses: ServerResponse[] = [];
  const server = createServer((req, res) => {
    responses.push(res);
    const last = req.headers["last-event-id"];
    const isIn = live.listen(res, {
      ...(last !== undefined && { auditAfter: Number(last) }),
      ...(options.isStillAllowed && { isStillAllowed: options.isStillAllowed }),
    });
    if (!isIn) res.writeHead(503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    live.close();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;

  async function hear(headers: Record<string, string> = {}) {
    let text = "";
    let isOver = false;
    const res = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ port, host: "127.0.0.1", headers, agent: false }, resolve).on("error", reject);
    });
    res
      .on("error", () => {})
      .on("close", () => {
        isOver = true;
      });
    const read = () =>
      res.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
    return {
      status: res.statusCode,
      headers: res.headers,
      read,
      text: () => text,
      isOver: () => isOver,
      of: (name: string) =>
        [...text.matchAll(/^event: (\w+)\n(?:id: \d+\n)?data: (.*)\n\n/gm)].flatMap((found) =>
          found[1] === name ? [JSON.parse(found[2] as string)] : [],
        ),
      leave: () => res.destroy(),
    };
  }
  const listen = async (headers?: Record<string, string>) => {
    const heard = await hear(headers);
    heard.read();
    return heard;
  };
  const add = (count: number, why = "") => {
    for (let i = 0; i < count; i++)
      entries.push({ id: entries.length + 1, at: 0, who: "ann", what: "blocklist.add", why });
  };
  return { live, looked, facts, responses, add, hear, listen };
}

describe("events", () => {
  it("begin with how things are, and tell what changes", async () => {
    const { listen, facts, add } = await rig();
    const one = await listen();
    expect(one.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    await expect.poll(() => one.of("policy"), soon).toMatchObject([{ version: 1 }]);
    await expect.poll(() => one.of("store"), soon).toHaveLength(1);
    const other = await listen();
    await expect.poll(() => other.of("policy"), soon).toMatchObject([{ version: 1 }]);
    facts.version = 2;
    facts.degraded = true;
    add(1);
    for (const heard of [one, other]) {
      await expect.poll(() => heard.of("policy"), soon).toMatchObject([{ version: 1 }, { version: 2 }]);
      await expect.poll(() => heard.of("store").at(-1), soon).toMatchObject({ isDegraded: true });
      await expect.poll(() => heard.of("audit"), soon).toMatchObject([{ id: 1, who: "ann" }]);
      expect(heard.text()).toContain("event: audit\nid: 1\n");
    }
  });

  it("are looked for once, however many listen, and not at all when nobody does", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.UTC(2026, 0, 31) });
    onTestFinished(() => void vi.useRealTimers());
    const { listen, looked } = await rig();
    const pass = () => vi.advanceTimersByTimeAsync(10_000);
    await pass();
    expect(looked).toEqual({ state: 0, audit: 0, policy: 0 });

    const first = await listen();
    await pass();
    const ofOne = { ...looked };
    expect(ofOne.policy).toBeGreaterThanOrEqual(10);
    const others = [await listen(), await listen(), await listen(), await listen()];
    Object.assign(looked, { state: 0, audit: 0, policy: 0 });
    await pass();
    for (const name of ["state", "audit", "policy"] as const)
      expect(looked[name]).toBeLessThanOrEqual(ofOne[name]);

    for (const each of [first, ...others]) each.leave();
    const before = { ...looked };
    await vi.waitFor(async () => {
      Object.assign(before, looked);
      await pass();
      expect(looked).toEqual(before);
    }, soon);
  });

  it("say every fifteen seconds that somebody is there", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const { listen } = await rig();
    const heard = await listen();
    await vi.advanceTimersByTimeAsync(31_000);
    vi.useRealTimers();
    await expect.poll(() => heard.text().match(/^: still here$/gm), soon).toHaveLength(2);
  });

  it("of the audit go on after the last one heard, each once and in order", async () => {
    const { listen, add } = await rig();
    add(5);
    const heard = await listen({ "Last-Event-ID": "2" });
    await expect.poll(() => heard.of("audit").map(({ id }) => id), soon).toEqual([3, 4, 5]);
    add(2);
    await expect.poll(() => heard.of("audit").map(({ id }) => id), soon).toEqual([3, 4, 5, 6, 7]);
    const fresh = await listen();
    await expect.poll(() => fresh.of("policy"), soon).toHaveLength(1);
    add(1);
    await expect.poll(() => fresh.of("audit").map(({ id }) => id), soon).toEqual([8]);
    const ofOtherData = await listen({ "Last-Event-ID": "1000" });
    await expect.poll(() => ofOtherData.of("policy"), soon).toHaveLength(1);
    add(1);
    await expect.poll(() => ofOtherData.of("audit").map(({ id }) => id), soon).toEqual([9]);
  });

  it("that were missed and are too many are named instead, and the newest thousand sent", async () => {
    const { listen, add } = await rig();
    add(1500, "w".repeat(1000));
    const heard = await listen({ "Last-Event-ID": "3" });
    await expect.poll(() => heard.of("audit").length, soon).toBe(1000);
    expect(heard.of("missed")).toEqual([{ after: 3, before: 501 }]);
    expect(heard.of("audit").at(-1)).toMatchObject({ id: 1500 });
    expect(heard.isOver()).toBe(false);
  });
});

describe("a listener", () => {
  it("who does not read is told so and dropped, and nobody else notices", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const { hear, listen, facts, responses } = await rig();
    const slow = await hear();
    const other = await listen();
    // Until the kernel takes no more, and then what may wait.
    for (let i = 0; !responses[0]?.writableEnded; i++) {
      Object.assign(facts, { version: i, text: String(i).repeat(200_000) });
      await vi.advanceTimersByTimeAsync(1000);
      const seen = i < 2 ? 0 : other.text().lastIndexOf(`"version":${i - 1},`);
      while (!other.text().includes(`"version":${i},`, seen)) await new Promise(setImmediate);
    }
    vi.useRealTimers();
    slow.read();
    await expect.poll(() => slow.of("bye"), soon).toMatchObject([{ reason: "slow" }]);
    await expect.poll(() => slow.isOver(), soon).toBe(true);
    expect(slow.of("policy").length).toBeLessThan(other.of("policy").length);
    expect(other.isOver()).toBe(false);
  }, 60_000);

  it("who reads gets a burst of the audit that is more than may wait for him", async () => {
    const { listen, add } = await rig();
    const heard = await listen();
    await expect.poll(() => heard.of("policy"), soon).toHaveLength(1);
    add(900, "w".repeat(2000));
    await expect.poll(() => heard.of("audit").length, soon).toBe(900);
    add(1);
    await expect.poll(() => heard.of("audit").length, soon).toBe(901);
    expect(heard.of("audit").map(({ id }) => id)).toEqual(Array.from({ length: 901 }, (_, i) => i + 1));
  });

  it("too many is sent away, until another leaves", async () => {
    const { listen } = await rig({ most: 2 });
    const [one] = [await listen(), await listen()];
    expect((await listen()).status).toBe(503);
    one?.leave();
    await expect.poll(async () => (await listen()).status, soon).toBe(200);
  });

  it("whose token is no longer valid is sent away", async () => {
    let isAllowed = true;
    const { listen } = await rig({ isStillAllowed: async () => isAllowed });
    const heard = await listen();
    await expect.poll(() => heard.of("policy"), soon).toHaveLength(1);
    isAllowed = false;
    await expect.poll(() => heard.of("bye"), soon).toMatchObject([{ reason: "not allowed" }]);
    await expect.poll(() => heard.isOver(), soon).toBe(true);
  });

  it("is told goodbye when the server ends, and no other is let in", async () => {
    const { live, listen } = await rig();
    const heard = await listen();
    live.close();
    await expect.poll(() => heard.of("bye"), soon).toMatchObject([{ reason: "ending" }]);
    await expect.poll(() => heard.isOver(), soon).toBe(true);
    expect((await listen()).status).toBe(503);
  });
});
