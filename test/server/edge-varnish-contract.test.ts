import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { keyTest } from "../../packages/tidegate-server/src/control/wanted.js";
import type { Edge } from "../../packages/tidegate-server/src/edge.js";
import { varnishEdge } from "../../packages/tidegate-server/src/edges/varnish/varnish-edge.js";
import { Secret } from "../../packages/tidegate-server/src/secret.js";
import { edgeContract } from "./edge-contract.js";
import { openVarnish, type VarnishRig } from "./edge-varnish-rig.js";

const openEdge = (rig: VarnishRig, token?: Secret): Edge =>
  varnishEdge({ name: "cache", url: rig.orders, maxEntries: 20_000, ...(token && { token }) });

const foreign = "192.0.2.66";

edgeContract("Varnish", async () => {
  const rig = await openVarnish();
  const edge = openEdge(rig);
  return {
    edge,
    /** By orders as people give them with curl. */
    async read(asked) {
      const found = new Map<string, number>();
      const queue = asked.filter(edge.abilities.takes);
      const work = async () => {
        for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
          const { status, text } = await rig.order("GET", `/tidegate/${key}`);
          const [value = ""] = text.split(" ");
          if (status === 200 && value !== "true") found.set(key, Number(value) * 1_000);
        }
      };
      await Promise.all(Array.from({ length: 8 }, work));
      return found;
    },
    async plantForeign() {
      await rig.order("PUT", `/tidegate/${foreign}`);
      return foreign;
    },
    hasForeign: async (key) => (await rig.order("GET", `/tidegate/${key}`)).text.startsWith("true "),
    async wipe() {
      rig.admin("ban", "obj.status != 0");
    },
    reopen: async () => openEdge(rig),
    async close() {
      await edge.close();
      await rig.close();
    },
  };
});

describe("our adapter to Varnish", { timeout: 60_000 }, () => {
  let rig: VarnishRig;
  let edge: Edge;
  const never = new AbortController().signal;
  const inAWhile = () => Date.now() + 600_000;
  const clients = Array.from({ length: 300 }, (_, i) => `198.51.${100 + (i >> 8)}.${i & 255}`);

  beforeAll(async () => {
    rig = await openVarnish();
  }, 60_000);
  afterAll(() => rig?.close());
  beforeEach(async () => {
    rig.admin("ban", "obj.status != 0");
    edge = openEdge(rig);
    return () => edge.close();
  });

  const hold = (keys: readonly string[]) =>
    edge.apply({ remove: [], put: keys.map((key) => ({ key, until: inAWhile() })) }, never);
  let page = 0;
  /** Of pages nobody has seen yet. */
  const answers = async (addresses: readonly string[]) => {
    const all = await Promise.all(addresses.map((address) => rig.send({ address, path: `/${page++}` })));
    return new Set(all.map(({ status }) => status));
  };

  it("an entry it puts holds the client at once, and one it removes lets him pass at once", async () => {
    for (let round = 0; round < 5; round++) {
      await hold(clients.slice(0, 3));
      expect(await answers(clients.slice(0, 3))).toEqual(new Set([429]));
      await edge.apply({ remove: clients.slice(0, 3), put: [] }, never);
      expect(await answers(clients.slice(0, 3))).toEqual(new Set([200]));
    }
  });

  it("while entries are put again, longer and shorter, nobody slips through", async () => {
    const held = clients.slice(0, 4);
    await hold(held);
    let isDone = false;
    const seen = new Set<number>();
    const flood = held.map(async () => {
      while (!isDone) for (const status of await answers(held)) seen.add(status);
    });
    for (let i = 0; i < 100; i++) {
      const until = Date.now() + (i % 2 === 0 ? 900_000 : 300_000);
      await edge.apply({ remove: [], put: held.map((key) => ({ key, until })) }, never);
    }
    isDone = true;
    await Promise.all(flood);
    expect(seen).toEqual(new Set([429]));
  });

  it("a connection that Varnish closed a moment ago is no failure", async () => {
    rig.admin("param.set", "timeout_idle", "0.1");
    await hold(clients.slice(0, 20));
    // Nothing is heard of it being closed meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    expect(await hold(clients.slice(0, 20))).toEqual({ refused: [], left: [] });
    rig.admin("param.set", "timeout_idle", "5");
  });

  it("what Varnish threw away is found missing within a few looks, all of it", async () => {
    await edge.current(clients, never);
    await hold(clients);
    expect((await edge.current(clients, never)).entries.size).toBe(300);
    for (const client of clients.slice(100, 150)) await rig.order("DELETE", `/tidegate/${client}`);
    await vi.waitFor(async () => expect((await edge.current(clients, never)).entries.size).toBe(250), {
      timeout: 10_000,
    });
  });

  it("a restart is another epoch, and what was there is found gone", async () => {
    await hold(clients);
    const before = await edge.current(clients, never);
    await rig.varnish.restart();
    const after = await vi.waitFor(() => edge.current(clients, never), { timeout: 20_000 });
    expect(after.epoch).not.toBe(before.epoch);
    expect(after.entries.size).toBe(0);
    expect(after.mode).toBeUndefined();
    await hold(clients);
    expect((await edge.current(clients, never)).entries.size).toBe(300);
    expect(await answers(clients.slice(0, 3))).toEqual(new Set([429]));
  });

  it("10,000 entries are put, and whoever they are of is held", async () => {
    const userAgent = "Wfuzz/2.4";
    const tools = Array.from({ length: 10_000 }, (_, i) => `198.18.${i >> 8}.${i & 255}`);
    const broad = (address: string) => `${address.length}:${address}${userAgent.length}:${userAgent}`;
    const keys = tools.map((address) => createHash("sha256").update(broad(address)).digest("hex"));
    for (let from = 0; from < keys.length; from += edge.abilities.maxBatch)
      await hold(keys.slice(from, from + edge.abilities.maxBatch));
    expect((await edge.current(keys, never)).entries.size).toBe(10_000);
    for (let i = 0; i < tools.length; i += 97) {
      const address = tools[i] as string;
      expect((await rig.send({ address, userAgent, path: `/tool-${i}` })).status, address).toBe(429);
    }
    expect((await rig.send({ address: "198.19.0.1", userAgent, path: "/tool" })).status).toBe(200);
  });

  it("a silent Varnish ends in an error that says to try again, as soon as it is given up", async () => {
    await edge.current([], never);
    rig.varnish.freeze();
    try {
      await expect(edge.current(clients, AbortSignal.timeout(200))).rejects.toMatchObject({
        name: "TimeoutError",
      });
    } finally {
      rig.varnish.thaw();
    }
    await hold(clients.slice(0, 1));
    await rig.varnish.kill();
    await expect(edge.current(clients, never)).rejects.toMatchObject({
      code: "TG_EDGE_UNREACHED",
      transient: true,
    });
    await expect(hold(clients)).rejects.toMatchObject({ code: "TG_EDGE_UNREACHED", edge: "cache" });
    await rig.varnish.restart();
    await hold(clients.slice(0, 1));
    expect(await answers(clients.slice(0, 1))).toEqual(new Set([429]));
  });

  it("a listener that takes no orders is told from one that does", async () => {
    const wrong = varnishEdge({ name: "cache", url: `http://127.0.0.1:${rig.origin.port}`, maxEntries: 10 });
    await expect(wrong.current([], never)).rejects.toMatchObject({ code: "TG_EDGE_SETUP", transient: false });
    await wrong.close();
  });

  it("keys it was not known to take before it was first read are not taken for unknowable after", async () => {
    const other = await openVarnish({ render: { fingerprint: "seed", ipv6Prefix: 128 } });
    const unread = openEdge(other);
    try {
      const knows = keyTest(unread.abilities);
      const keys = ["ab".repeat(20), "ab".repeat(32), "2001:db8::1", "2001:db8::/64"];
      expect(keys.map(knows)).toEqual([false, true, false, true]);
      await unread.current([], never);
      expect(keys.map(knows)).toEqual([true, false, true, false]);
    } finally {
      await unread.close();
      await other.close();
    }
  });

  it("only the right token is accepted, and it is in no message", async () => {
    const guarded = await openVarnish({
      render: { token: new Secret("the-token-of-control"), fingerprint: "seed" },
    });
    const [right, wrong] = [
      openEdge(guarded, new Secret("the-token-of-control")),
      openEdge(guarded, new Secret("a-guess-of-one")),
    ];
    try {
      const failure = await wrong.current([], never).catch((error: Error) => error);
      expect(failure).toMatchObject({ code: "TG_EDGE_DENIED", transient: false });
      expect(String(failure)).not.toContain("a-guess");
      expect((await right.current([], never)).entries.size).toBe(0);
      for (const seconds of [300, 900]) {
        const put = [{ key: "203.0.113.7", until: Date.now() + seconds * 1_000 }];
        expect(await right.apply({ remove: [], put }, never)).toEqual({ refused: [], left: [] });
      }
      expect(["ab".repeat(20), "ab".repeat(32)].map(right.abilities.takes)).toEqual([true, false]);
    } finally {
      await Promise.all([right.close(), wrong.close()]);
      await guarded.close();
    }
  });
});
