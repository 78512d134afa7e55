import { createHash } from "node:crypto";
import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Edge, EdgeEntry } from "../../packages/tidegate-server/src/edge.js";
import { type HaproxyRig, type HaproxyRigOptions, openHaproxyRig, statusOf } from "./edge-haproxy-rig.js";

let rig: HaproxyRig;
let edge: Edge;
const closings: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

async function open(options: HaproxyRigOptions & { readonly keepsFiles?: boolean } = {}): Promise<void> {
  const { keepsFiles = false, ...rest } = options;
  rig = await openHaproxyRig(rest);
  closings.push(() => rig.close());
  edge = rig.openEdge({ keepsFiles });
}

const patience = () => AbortSignal.timeout(60_000);
const current = (of = edge) => of.current([], patience());
const apply = (changes: { remove?: readonly string[]; put?: readonly EdgeEntry[] }, to = edge) =>
  to.apply({ remove: [], put: [], ...changes }, patience());
const digest = (text: unknown) => createHash("sha256").update(String(text)).digest("hex");
const digests = (count: number, from = 0) => Array.from({ length: count }, (_, i) => digest(from + i));
const until = Math.ceil(Date.now() / 1_000) * 1_000 + 900_000;
const entriesOf = (keys: readonly string[], end = until) => keys.map((key) => ({ key, until: end }));
const linesOf = (keys: readonly string[], end = until) => keys.map((key) => `${key} ${end / 1_000}`);
const sorted = (lines: readonly string[]) => [...lines].sort();

/** In front of the runtime API, over TCP: sees whole commands, payload and all, and hands on what HAProxy says in small pieces. */
async function relay(options: {
  readonly size?: number;
  readonly onCommand?: (command: string) => unknown;
}): Promise<string> {
  const { size = 1_000_000, onCommand = () => {} } = options;
  const server = createServer((client) => {
    const haproxy = connect(rig.haproxy.socket);
    client.setNoDelay(true);
    for (const each of [client, haproxy]) {
      each.on("error", () => {});
      each.on("close", () => [client, haproxy].map((other) => other.destroy()));
    }
    haproxy.on("data", async (piece) => {
      haproxy.pause();
      for (let at = 0; at < piece.length && client.writable; at += size) {
        client.write(piece.subarray(at, at + size));
        await new Promise((resolve) => setImmediate(resolve));
      }
      haproxy.resume();
    });
    let command = "";
    client.on("data", async (piece) => {
      command += piece.toString("latin1");
      if (!command.endsWith(command.includes("<<") ? "\n\n" : "\n")) return;
      const whole = command;
      command = "";
      await onCommand(whole);
      haproxy.write(whole, "latin1");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closings.push(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("many entries", () => {
  const own = digests(10_000);
  /** Words others may have written; the last two only read the same if left where they are. */
  const plain = [
    "192.0.2.66 true",
    "not-a-digest 1999999999",
    `${digest("theirs")} false`,
    `${digest("note")} 12x`,
  ];
  const odd = ["spaced out of place", "semi;colon <<x"];

  async function plant(lines: readonly string[]): Promise<void> {
    const { digests: path } = rig.paths;
    await rig.say(`add map ${path} <<\n${lines.join("\n")}\n`);
    expect(sorted(await rig.show("digests"))).toEqual(expect.arrayContaining(sorted(lines)));
  }

  it("come and go among those of others, ten thousand at once", async () => {
    await open();
    await apply({ put: entriesOf(own.slice(0, 10)) });
    await plant(plain);
    await apply({ put: entriesOf(own) });
    expect(sorted(await rig.show("digests"))).toEqual(sorted([...linesOf(own), ...plain]));
    expect((await current()).entries.size).toBe(own.length);
    expect((await current()).foreign).toBe(plain.length);

    const moved = entriesOf(own.slice(0, 5_000), until + 60_000);
    await apply({ remove: own.slice(5_000), put: moved });
    const expected = [...linesOf(own.slice(0, 5_000), until + 60_000), ...plain];
    expect(sorted(await rig.show("digests"))).toEqual(sorted(expected));
    await apply({ remove: own });
    expect(sorted(await rig.show("digests"))).toEqual(sorted(plain));
  });

  it("leave lines alone that would not read the same if they were written again", async () => {
    await open();
    const lines = [...plain, ...odd];
    await plant(lines);
    await apply({ put: entriesOf(own.slice(0, 500)) });
    await rig.say(`add map ${rig.paths.digests} ${own[0]} 1999999999`);
    await apply({ put: entriesOf(own.slice(0, 300), until + 60_000), remove: own.slice(300) });
    const expected = [...linesOf(own.slice(0, 300), until + 60_000), ...lines];
    expect(sorted(await rig.show("digests"))).toEqual(sorted(expected));
  });

  it("of others written while ours are replaced are not lost", async () => {
    await open();
    const { digests: path } = rig.paths;
    await plant(plain);
    let isMeddling = true;
    const socket = await relay({
      async onCommand(command) {
        if (!isMeddling || !command.startsWith("add map @")) return;
        isMeddling = false;
        await rig.say(`add map ${path} ${digest("late")} true`);
        await rig.say(`set map ${path} ${digest("theirs")} true`);
        await rig.say(`del map ${path} ${digest("note")}`);
        await rig.say(`set map ${path} ${own[0]} true`);
      },
    });
    await apply({ put: entriesOf(own.slice(0, 1_000)) });
    await apply({ put: entriesOf(own.slice(0, 1_000), until + 60_000) }, rig.openEdge({ socket }));
    expect(isMeddling).toBe(false);
    const theirs = [...plain.slice(0, 2), `${digest("late")} true`, `${digest("theirs")} true`];
    expect(sorted(await rig.show("digests"))).toEqual(
      sorted([...linesOf(own.slice(1, 1_000), until + 60_000), ...theirs, `${own[0]} true`]),
    );
  });

  it("that have ended stand in nobody's way, and are swept away before they are too many", async () => {
    await open();
    const end = Math.floor(Date.now() / 1_000) * 1_000;
    for (let from = 0; from < 600; from += 100) await plant(linesOf(own.slice(from, from + 100), end));
    expect((await current()).entries.size).toBe(0);
    await apply({ put: entriesOf(own.slice(700, 701)) });
    expect(await rig.show("digests")).toEqual(linesOf(own.slice(700, 701)));
  });

  it.each([
    ["a person's block", "203.0.113.20", "203.0.113.16/28 true", "203.0.113.20"],
    ["a person's wider block", "203.0.113.0/24", "203.0.0.0/16 true", "203.0.113.7"],
    ["a wider block of ours", "2001:db8:1::/64", `2001:db8:1::/48 ${until / 1_000}`, "2001:db8:1::1"],
  ])("that have ended hide nobody from %s once they were looked at", async (_, ended, wider, address) => {
    await open();
    const past = Math.floor(Date.now() / 1_000) - 10;
    await rig.say(`add map ${rig.paths.addresses} ${ended} ${past}`);
    await rig.say(`add map ${rig.paths.addresses} 198.51.100.7 ${past}`);
    await current();
    expect(await rig.show("addresses")).toHaveLength(2);
    await rig.say(`add map ${rig.paths.addresses} ${wider}`);
    expect(await statusOf(rig, { address })).toBe(200);
    await current();
    expect(await statusOf(rig, { address })).toBe(429);
    expect(await rig.show("addresses")).toEqual([wider]);
  });

  it("are changed a few at a time as well as all at once", async () => {
    await open();
    await apply({ put: entriesOf([...own.slice(0, 1_000), "203.0.113.0/24"]) });
    await plant(plain);
    await rig.say(`add map ${rig.paths.addresses} 198.51.100.9 true`);
    const later = until + 60_000;
    const theirs = digest("theirs");
    const { refused } = await apply({
      remove: [own[0] as string, digest("note"), digest("nowhere")],
      put: entriesOf([own[1] as string, digest("new"), theirs, "203.0.113.7", "198.51.100.9"], later),
    });
    expect(refused.map(({ key }) => key)).toEqual([theirs, "198.51.100.9"]);
    const expected = [
      ...linesOf(own.slice(2, 1_000)),
      ...linesOf([own[1] as string, digest("new")], later),
      ...plain,
    ];
    expect(sorted(await rig.show("digests"))).toEqual(sorted(expected));
    expect(sorted(await rig.show("addresses"))).toEqual(
      sorted([...linesOf(["203.0.113.0/24"]), ...linesOf(["203.0.113.7"], later), "198.51.100.9 true"]),
    );
  });
});

describe("a key that stands there twice", () => {
  const twice = digest("twice");
  const address = "203.0.113.7";

  async function plantTwice(): Promise<void> {
    await open();
    await apply({ put: entriesOf([twice, address, digest("once")]) });
    for (const end of [until / 1_000, 1_999_999_999]) {
      await rig.say(`add map ${rig.paths.digests} ${twice} ${end}`);
      await rig.say(`add map ${rig.paths.addresses} ${address} ${end}`);
    }
    expect(await rig.show("digests")).toHaveLength(4);
  }

  it("is told as about to end, so that whoever wants it puts it again", async () => {
    await plantTwice();
    const { entries } = await current();
    expect([...entries.keys()].sort()).toEqual([address, digest("once"), twice].sort());
    expect(entries.get(digest("once"))).toBe(until);
    for (const key of [twice, address]) expect(entries.get(key)).toBeLessThan(Date.now() + 1_000);
  });

  it("stands there once when it is put", async () => {
    await plantTwice();
    await current();
    await apply({ put: entriesOf([twice, address]) });
    expect(sorted(await rig.show("digests"))).toEqual(sorted(linesOf([twice, digest("once")])));
    expect(await rig.show("addresses")).toEqual(linesOf([address]));
  });

  it("is gone when it is removed", async () => {
    await plantTwice();
    await current();
    await apply({ remove: [twice, address] });
    expect(await rig.show("digests")).toEqual(linesOf([digest("once")]));
    expect(await rig.show("addresses")).toEqual([]);
  });

  it("does not come of putting from many sides at once for longer than until the next look", async () => {
    await open();
    const keys = digests(50);
    const others = [edge, edge, rig.openEdge(), rig.openEdge()];
    await Promise.allSettled(others.map((each) => apply({ put: entriesOf(keys) }, each)));
    await current();
    await apply({ put: entriesOf(keys) });
    expect(sorted(await rig.show("digests"))).toEqual(sorted(linesOf(keys)));
  });

  it("does not come of one adapter at all", async () => {
    await open();
    const keys = digests(50);
    await Promise.all([1, 2, 3, 4].map(() => apply({ put: entriesOf(keys) })));
    expect(sorted(await rig.show("digests"))).toEqual(sorted(linesOf(keys)));
  });
});

describe("what HAProxy forgets", () => {
  it("by a restart is noticed, and put again it is refused again", async () => {
    await open();
    await apply({ put: entriesOf(["203.0.113.7"]) });
    await edge.setMode("shadow", patience());
    await edge.setMode("on", patience());
    const before = await current();
    expect(await statusOf(rig)).toBe(429);
    await rig.haproxy.restart();
    expect(await statusOf(rig)).toBe(200);
    const after = await current();
    expect(after.epoch).not.toBe(before.epoch);
    expect(after.entries.size).toBe(0);
    expect(after.mode).toBeUndefined();
    await apply({ put: entriesOf(["203.0.113.7"]) });
    expect(await statusOf(rig)).toBe(429);
    expect((await current()).epoch).toBe(after.epoch);
  });

  async function reload(): Promise<void> {
    const { epoch } = await current();
    await rig.haproxy.reload();
    // One that is being replaced may take a connection and not answer any more.
    const brief = () => edge.current([], AbortSignal.timeout(2_000));
    await vi.waitFor(async () => expect((await brief()).epoch).not.toBe(epoch), { timeout: 30_000 });
  }

  it("by a reload is noticed", async () => {
    await open({ hasMaster: true });
    await apply({ put: entriesOf(["203.0.113.7", digest("a")]) });
    await reload();
    expect((await current()).entries.size).toBe(0);
  });

  it("is nothing where the files are kept, by a reload or a restart", async () => {
    const files = {
      addresses: "# by hand\n198.51.100.9 true\n\n198.51.100.10\tfalse\n203.0.113.99 12\n",
      digests: "# digests\n",
      mode: "# mode\nother thing\nmode on",
    };
    await open({ hasMaster: true, keepsFiles: true, files });
    const keys = digests(3_000);
    await apply({ put: entriesOf(["203.0.113.7", "2001:db8:1:2::/64", ...keys]) });
    await apply({ remove: keys.slice(2_000) });
    await edge.setMode("shadow", patience());
    const before = await current();
    const kept = (name: "digests" | "addresses" | "mode") => readFile(rig.paths[name], "utf8");
    await vi.waitFor(async () => expect(await kept("mode")).toContain("mode shadow"), 10_000);
    for (const again of [reload, () => rig.haproxy.restart()]) {
      await again();
      const after = await current();
      expect(after.epoch).not.toBe(before.epoch);
      expect({ ...after, epoch: "" }).toEqual({ ...before, epoch: "" });
      expect(after.entries.size).toBe(2_002);
      expect(after.mode).toBe("shadow");
      expect(await rig.show("addresses")).toEqual(
        expect.arrayContaining(["198.51.100.9 true", "198.51.100.10 false"]),
      );
    }
    expect(await kept("addresses")).toBe(
      `# by hand\n198.51.100.9 true\n198.51.100.10\tfalse\n${linesOf(["203.0.113.7", "2001:db8:1:2::/64"]).join("\n")}\n`,
    );
    expect(await kept("mode")).toBe("# mode\nother thing\nmode shadow\n");
    await edge.setMode("on", patience());
    expect(await statusOf(rig)).toBe(429);
    expect(await statusOf(rig, { address: "198.51.100.9" })).toBe(429);
    expect(await statusOf(rig, { address: "198.51.100.10" })).toBe(200);
  });

  it("is said where the files can not be kept, and HAProxy knows all the same", async () => {
    await open({ keepsFiles: true });
    await rm(rig.paths.addresses);
    await apply({ put: entriesOf(["203.0.113.7"]) });
    expect(await rig.show("addresses")).toEqual(linesOf(["203.0.113.7"]));
    await vi.waitFor(() => expect(edge.problem?.()).toContain("can not be kept"), 10_000);
    for (let i = 0; i < 3; i++) {
      expect((await current()).entries.size).toBe(1);
      expect(edge.problem?.()).toContain(rig.paths.addresses);
    }
    await writeFile(rig.paths.addresses, "");
    await vi.waitFor(async () => {
      await current();
      expect(edge.problem?.()).toBeUndefined();
    }, 10_000);
  });

  it("files keep their mode, and nothing is left beside them", async () => {
    await open({ keepsFiles: true });
    await chmod(rig.paths.addresses, 0o640);
    await writeFile(rig.paths.addresses, "198.51.100.9 caf\xe9\n", "latin1");
    await apply({ put: entriesOf(["203.0.113.7"]) });
    await edge.close();
    expect((await stat(rig.paths.addresses)).mode & 0o777).toBe(0o640);
    expect(await readFile(rig.paths.addresses, "latin1")).toBe(
      `198.51.100.9 caf\xe9\n${linesOf(["203.0.113.7"])[0]}\n`,
    );
    expect((await readdir(rig.haproxy.dir)).filter((name) => name.includes(".new"))).toEqual([]);
  });
});

describe("a runtime API", () => {
  it.each([1, 2, 3, 7])("whose answers come in pieces of %i bytes is understood", async (size) => {
    await open();
    const slow = rig.openEdge({ socket: await relay({ size }) });
    const keys = ["203.0.113.7", ...digests(20)];
    await apply({ put: entriesOf(keys) }, slow);
    await apply({ remove: keys.slice(1, 3), put: entriesOf(keys.slice(3), until + 60_000) }, slow);
    await slow.setMode("off", patience());
    const state = await current(slow);
    expect(state).toEqual(await current());
    expect(state).toMatchObject({ mode: "off", foreign: 0 });
    expect(state.entries.size).toBe(19);
  });

  it("is handed no more at a time than its buffer takes", async () => {
    await open();
    const sizes: number[] = [];
    const watched = rig.openEdge({
      socket: await relay({ onCommand: (command) => sizes.push(command.length) }),
    });
    const keys = digests(2_000);
    await apply({ put: entriesOf(keys) }, watched);
    await apply({ put: entriesOf(keys, until + 60_000) }, watched);
    expect(await rig.show("digests")).toHaveLength(2_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(12_000);
    expect(Math.max(...sizes)).toBeGreaterThan(6_000);
  });

  it("that is not there is told as such", async () => {
    await open();
    for (const socket of [`${rig.haproxy.dir}/none.sock`, "127.0.0.1:1", "[::1]:1"]) {
      const nobody = rig.openEdge({ socket });
      const unreached = { code: "TG_EDGE_UNREACHED", transient: true, edge: "front" };
      await expect(current(nobody)).rejects.toMatchObject(unreached);
      await expect(apply({ put: entriesOf(["203.0.113.7"]) }, nobody)).rejects.toMatchObject(unreached);
      await expect(nobody.setMode("on", patience())).rejects.toMatchObject(unreached);
    }
  });

  it("that says nothing is waited for no longer than told, and holds up nothing after it", async () => {
    await open();
    await apply({ put: entriesOf(["203.0.113.7"]) });
    rig.haproxy.freeze();
    try {
      const short = () => AbortSignal.timeout(200);
      const put = entriesOf(["203.0.113.8"]);
      const waiting = [1, 2].map(() => edge.apply({ remove: [], put }, short()));
      for (const each of [...waiting, edge.current([], short())])
        await expect(each).rejects.toMatchObject({ name: expect.stringMatching(/Error$/) });
    } finally {
      rig.haproxy.thaw();
    }
    await apply({ put: entriesOf(["203.0.113.9"]) });
    expect((await current()).entries.has("203.0.113.9")).toBe(true);
  });

  it("that breaks off in the middle leaves a map that the next apply sets right", async () => {
    await open();
    const keys = digests(10_000);
    const lines = ["192.0.2.66 true"];
    await rig.say(`add map ${rig.paths.digests} ${lines[0]}`);
    for (const afterMs of [0, 3, 6, 12, 25, 50]) {
      const end = until + afterMs * 60_000;
      await edge
        .apply({ remove: [], put: entriesOf(keys, end) }, AbortSignal.timeout(afterMs))
        .catch(() => {});
    }
    await apply({ put: entriesOf(keys) });
    expect(sorted(await rig.show("digests"))).toEqual(sorted([...linesOf(keys), ...lines]));
  });

  it("of a HAProxy without our maps says how to get them", async () => {
    await open();
    const elsewhere = rig.openEdge({ maps: "/etc/nowhere" });
    for (const asked of [current(elsewhere), apply({ put: entriesOf(["203.0.113.7"]) }, elsewhere)])
      await expect(asked).rejects.toMatchObject({
        code: "TG_EDGE_SETUP",
        help: expect.stringContaining("render"),
      });
  });

  it("hears nothing but addresses, digests and seconds", async () => {
    await open();
    const bad = ["999.1.1.1", "1.2.3.4/33", "2001:db8::/129", "1::2::3", "203.0.113.7 ", "a;clear map #1"];
    const { refused } = await apply({ remove: bad, put: entriesOf([...bad, "203.0.113.7"]) });
    expect(refused.map(({ key }) => key)).toEqual(bad);
    expect(bad.filter(edge.abilities.takes)).toEqual([]);
    expect(await rig.show("addresses")).toEqual(linesOf(["203.0.113.7"]));
    for (const maps of ["/etc/a b", "/etc/x;y", "relative", "/a/../b", "/a\n", ""])
      expect(() => rig.openEdge({ maps })).toThrow(expect.objectContaining({ code: "TG_EDGE_SETUP" }));
  });

  it("knows one epoch, however many ask first", async () => {
    await open();
    const many = await Promise.all(Array.from({ length: 8 }, () => current(rig.openEdge())));
    const late = await current();
    expect(new Set(many.map(({ epoch }) => epoch))).toEqual(new Set([late.epoch]));
  });
});
