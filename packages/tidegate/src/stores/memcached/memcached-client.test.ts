import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, inject, test } from "vitest";
import { ask } from "../../../../../test/servers/child-server.js";
import { faultProxy, startMemcached } from "../../../../../test/servers/index.js";
import { StoreError } from "../../errors.js";
import { hostileKeys } from "../../testing/store-contract.js";
import { type MemcachedClient, memcachedClient, wireKey, wireTtl } from "./memcached-client.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function clientOf(...ports: number[]): MemcachedClient {
  const client = memcachedClient({ servers: ports.map((port) => `127.0.0.1:${port}`) });
  cleanups.push(() => client.close());
  return client;
}

async function started<S extends { stop(): Promise<void> }>(starting: Promise<S>): Promise<S> {
  const server = await starting;
  cleanups.push(() => server.stop());
  return server;
}

const unique = () => `t:${crypto.randomUUID()}`;
const terms = { ttlSeconds: 60, notAfter: Number.POSITIVE_INFINITY };
const bytes = (text: string) => Buffer.from(text, "latin1");

describe("on a real server", () => {
  test("a value comes back byte for byte", async () => {
    const client = clientOf(inject("memcachedPort"));
    const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    const key = unique();
    expect(await client.get(key)).toEqual({ value: undefined, version: undefined });
    expect(await client.put(key, all, undefined, terms)).toMatchObject({ isStored: true });
    expect((await client.get(key)).value).toEqual(all);
  });

  test("a put succeeds only on what was read", async () => {
    const client = clientOf(inject("memcachedPort"));
    const key = unique();
    const { version: first } = await client.put(key, bytes("a"), undefined, terms);
    expect(await client.put(key, bytes("b"), undefined, terms)).toMatchObject({ isStored: false });
    const { version: second } = await client.put(key, bytes("c"), first, terms);
    expect(await client.put(key, bytes("d"), first, terms)).toMatchObject({ isStored: false });
    await client.delete(key, terms);
    expect(await client.put(key, bytes("e"), second, terms)).toMatchObject({ isStored: false });
    expect((await client.get(key)).value).toBeUndefined();
  });

  test("a thousand calls at once get each its own answer", async () => {
    const client = clientOf(inject("memcachedPort"));
    const prefix = unique();
    const numbers = Array.from({ length: 1000 }, (_, i) => i);
    await Promise.all(numbers.map((i) => client.put(`${prefix}${i}`, bytes(`v${i}`), undefined, terms)));
    const items = await Promise.all(numbers.map((i) => client.get(`${prefix}${i}`)));
    expect(items.map(({ value }) => String(value))).toEqual(numbers.map((i) => `v${i}`));
  });

  test("hostile keys neither speak to the server nor meet each other", async () => {
    const client = clientOf(inject("memcachedPort"));
    const prefix = unique();
    const keys = [...hostileKeys, "a\r\nflush_all\r\n", "x ME", "k".repeat(5000)];
    for (const key of keys)
      expect(await client.put(prefix + key, bytes("1"), undefined, terms), key).toMatchObject({
        isStored: true,
      });
  });

  test("a version does not survive its connection: a restarted server counts cas numbers anew", async () => {
    const memcached = await started(startMemcached());
    const client = clientOf(memcached.port);
    const { version } = await client.put("k", bytes("before"), undefined, terms);
    await memcached.restart();
    await expect
      .poll(() => client.put("k", bytes("after"), undefined, terms).catch(() => undefined))
      .toBeTruthy();
    expect((await client.get("k")).version?.cas).toBe(version?.cas);
    expect(await client.put("k", bytes("stale"), version, terms)).toMatchObject({ isStored: false });
    expect(String((await client.get("k")).value)).toBe("after");
  });

  test("a server without cas numbers is refused: counts would overwrite each other", async () => {
    const memcached = await started(startMemcached({ args: ["-C"] }));
    const client = clientOf(memcached.port);
    await client.put("k", bytes("v"), undefined, terms);
    await expect(client.get("k")).rejects.toThrow("memcached -C");
  });

  test("what the server has no room for fails one call, not the connection", async () => {
    const memcached = await started(startMemcached({ args: ["-I", "1m", "-m", "64"] }));
    const client = clientOf(memcached.port);
    const [large, small] = await Promise.allSettled([
      client.put("large", Buffer.alloc(1_200_000), undefined, terms),
      client.put("small", bytes("v"), undefined, terms),
    ]);
    expect(large).toMatchObject({ status: "rejected", reason: { code: "TG_STORE_REFUSED" } });
    expect(small).toMatchObject({ status: "fulfilled", value: { isStored: true } });
  });

  test("a time to live is kept, of seconds and of years", async () => {
    const client = clientOf(inject("memcachedPort"));
    const port = inject("memcachedPort");
    const ttlOf = async (ttlSeconds: number) => {
      const key = unique();
      await client.put(key, bytes("v"), undefined, { ...terms, ttlSeconds });
      return Number(/t(-?\d+)/.exec(await ask(port, `mg ${key} t\r\n`))?.[1]);
    };
    const day = 86_400;
    // Its clock ticks in seconds, late under load, and does not follow a system clock that is set; longer times are told by the clock.
    const serverTime = Number(/STAT time (\d+)/.exec(await ask(port, "stats\r\n"))?.[1]);
    const behind = Date.now() / 1000 - serverTime;
    for (const seconds of [60, 30 * day, 31 * day, 400 * day]) {
      const told = (await ttlOf(seconds)) - seconds - (seconds > 30 * day ? behind : 0);
      expect(Math.abs(told)).toBeLessThanOrEqual(5);
    }
    expect(await ttlOf(100 * 365 * day)).toBe(-1);
    const key = unique();
    await client.put(key, bytes("v"), undefined, { ...terms, ttlSeconds: 1 });
    await expect.poll(async () => (await client.get(key)).value, { timeout: 5000 }).toBeUndefined();
  });

  test("a call whose connection broke is rejected and never sent again", async () => {
    const memcached = await started(startMemcached());
    const proxy = await started(faultProxy(memcached.port));
    const client = clientOf(proxy.port);
    await client.get("warm");
    proxy.swallowReplies(true);
    const put = client.put("k", bytes("v"), undefined, terms);
    const seen = expect(put).rejects.toMatchObject({ code: "TG_STORE_UNREACHABLE", transient: true });
    await expect.poll(() => ask(memcached.port, "mg k v\r\n")).toContain("VA 1");
    proxy.cut();
    await seen;
    proxy.swallowReplies(false);
    expect(String((await client.get("k")).value)).toBe("v");
    expect(await ask(memcached.port, "stats\r\n")).toMatch(/STAT cmd_set 1\r/);
  });

  test("a call is not sent after its time", async () => {
    const client = clientOf(inject("memcachedPort"));
    const key = unique();
    const late = { ...terms, notAfter: performance.now() - 1 };
    await expect(client.put(key, bytes("v"), undefined, late)).rejects.toMatchObject({
      code: "TG_STORE_LATE",
    });
    expect((await client.get(key)).value).toBeUndefined();
  });

  test("a server that was down is found again", async () => {
    const memcached = await started(startMemcached());
    const client = clientOf(memcached.port);
    await client.get("k");
    await memcached.kill();
    await expect(client.get("k")).rejects.toMatchObject({ code: "TG_STORE_UNREACHABLE", transient: true });
    await memcached.restart();
    await expect.poll(() => client.get("k").catch(() => undefined), { timeout: 5000 }).toBeDefined();
  });

  test("closed, it rejects what waits and what comes", async () => {
    const client = clientOf(inject("memcachedPort"));
    const waiting = expect(client.get("k")).rejects.toThrow("closed");
    client.close();
    await waiting;
    await expect(client.get("k")).rejects.toThrow("closed");
  });
});

/** A server that greets like memcached and then does what the test says. */
async function liar(answer: (request: string, socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => {
      const request = data.toString("latin1");
      if (request === "mn\r\n") socket.write("MN\r\n");
      else answer(request, socket);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const opaqueOf = (request: string, nth = 0) => [...request.matchAll(/ O(\S+)/g)][nth]?.[1];

describe("on a server that lies", () => {
  test.each<[what: string, answer: (request: string) => string]>([
    ["garbage", () => "HTTP/1.1 400 Bad Request\r\n\r\n"],
    ["an oversized value", (request) => `VA 99999999 c1 O${opaqueOf(request)}\r\n`],
    ["a value of another length", (request) => `VA 2 c1 O${opaqueOf(request)}\r\nabc\r\n`],
    ["the answer to another command", () => "VA 1 c1 Ozzz\r\na\r\n"],
    [
      "answers in the wrong order",
      (request) => `EN O${opaqueOf(request, 1)}\r\nEN O${opaqueOf(request, 0)}\r\n`,
    ],
    ["an answer of another kind", (request) => `HD O${opaqueOf(request)}\r\n`],
    [
      "no cas number",
      (request) => `VA 1 O${opaqueOf(request, 0)}\r\na\r\nVA 1 O${opaqueOf(request, 1)}\r\na\r\n`,
    ],
    ["an endless line", () => "x".repeat(10_000)],
  ])("%s rejects every call in flight", async (_what, answer) => {
    const client = clientOf(await liar((request, socket) => void socket.write(answer(request), "latin1")));
    const outcomes = await Promise.allSettled([client.get("a"), client.get("b")]);
    for (const outcome of outcomes) {
      expect(outcome.status).toBe("rejected");
      expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(StoreError);
      expect((outcome as PromiseRejectedResult).reason.code).toBe("TG_STORE_REPLY");
    }
  });

  test("an answer nobody asked for breaks the connection before the next call can take it for its own", async () => {
    const sockets = new Set<Socket>();
    const client = clientOf(
      await liar((request, socket) => {
        sockets.add(socket);
        socket.write(`EN O${opaqueOf(request)}\r\nEN\r\n`);
      }),
    );
    expect((await client.get("a")).value).toBeUndefined();
    expect((await client.get("b")).value).toBeUndefined();
    expect(sockets.size).toBe(2);
  });

  test("one that hangs up is tried less and less often; meanwhile calls fail at once", async () => {
    let attempts = 0;
    const server = createServer((socket) => {
      attempts++;
      socket.destroy();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanups.push(() => server.close());
    const client = clientOf((server.address() as AddressInfo).port);
    let rejected = 0;
    const until = performance.now() + 600;
    while (performance.now() < until) {
      await client.get("k").catch(() => rejected++);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Pauses of 25 to 50 ms, then twice that, and so on.
    expect(attempts).toBeGreaterThan(1);
    expect(attempts).toBeLessThan(8);
    expect(rejected).toBeGreaterThan(100);
  });

  test("silence is given up after two seconds", async () => {
    const client = clientOf(await liar(() => {}));
    const started = performance.now();
    await expect(client.get("a")).rejects.toMatchObject({ code: "TG_STORE_UNREACHABLE" });
    expect(performance.now() - started).toBeLessThan(4000);
  });

  test("what does not know the meta protocol is told apart with a hint", async () => {
    const server = createServer((socket) => socket.on("data", () => socket.write("ERROR\r\n"))).listen(
      0,
      "127.0.0.1",
    );
    await once(server, "listening");
    cleanups.push(() => server.close());
    const client = clientOf((server.address() as AddressInfo).port);
    await expect(client.get("a")).rejects.toThrow("memcached 1.6");
    client.close();
  });
});

describe("several servers", () => {
  /** Which of these servers a client puts each key on. */
  async function homes(ports: readonly number[], keys: readonly string[]): Promise<number[]> {
    const client = clientOf(...ports);
    await Promise.all(keys.map((key) => client.put(key, bytes("v"), undefined, terms)));
    const found = await Promise.all(
      keys.map(async (key) => {
        const answers = await Promise.all(ports.map((port) => ask(port, `mg ${key}\r\n`)));
        return ports.filter((_, i) => answers[i]?.startsWith("HD"));
      }),
    );
    for (const places of found) expect(places).toHaveLength(1);
    await Promise.all(keys.map((key) => client.delete(key, terms)));
    return found.map(([port]) => port as number);
  }

  test("a key lives on one, whatever their order; one server less moves only its own keys", async () => {
    const servers = await Promise.all([1, 2, 3].map(() => started(startMemcached())));
    const ports = servers.map(({ port }) => port);
    const keys = Array.from({ length: 90 }, (_, i) => `user:${i}`);
    const at = await homes(ports, keys);
    for (const port of ports) expect(at.filter((home) => home === port).length).toBeGreaterThan(12);
    expect(await homes([...ports].reverse(), keys)).toEqual(at);
    const fewer = await homes(ports.slice(1), keys);
    at.forEach((home, i) => {
      if (home !== ports[0]) expect(fewer[i]).toBe(home);
    });
  });
});

test("keys go over the wire as they are, or as a digest no other key is", () => {
  expect(wireKey("tg:user:42:api")).toBe("tg:user:42:api");
  expect(wireKey("k".repeat(250))).toBe("k".repeat(250));
  const digests = ["k".repeat(251), "a b", "a\nb", "é", "\ud83c", "\ud83d"].map(wireKey);
  expect(new Set(digests).size).toBe(6);
  for (const digest of digests) expect(digest).toMatch(/^%m[\da-f]{64}$/);
});

test("a time to live is whole seconds, never 0 by mistake, and a date above 30 days", () => {
  expect([0, 0.001, 1, 1.001, 2_592_000].map(wireTtl)).toEqual([1, 1, 1, 2, 2_592_000]);
  expect(wireTtl(2_592_001)).toBeGreaterThan(1_700_000_000);
  expect([1e12, Number.POSITIVE_INFINITY].map(wireTtl)).toEqual([0, 0]);
});

test.each([undefined, [], "127.0.0.1", ["127.0.0.1:0"], ["a:99999"], ["a b"], ["::1"], [7], ["a", "a"]])(
  "servers: %j is refused with an example",
  (servers) => {
    expect(() => memcachedClient({ servers: servers as string[] })).toThrow(
      /memcached\.servers.*TG_MEMCACHED_SERVERS/,
    );
  },
);
