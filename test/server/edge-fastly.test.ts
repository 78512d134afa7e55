import { createHash } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { RefusedKey } from "../../packages/tidegate-server/src/edge.js";
import { fastlyEdge } from "../../packages/tidegate-server/src/edges/fastly/fastly-edge.js";
import { Secret } from "../../packages/tidegate-server/src/secret.js";
import { fastlyRig, settingsFor } from "./edge-fastly-rig.js";

const never = new AbortController().signal;
const digests = (count: number, of = ""): string[] =>
  Array.from({ length: count }, (_, i) => createHash("sha256").update(`${of}${i}`).digest("hex"));
const entries = (keys: readonly string[], until: number) => keys.map((key) => ({ key, until }));
const hourMs = 3_600_000;

describe("what a dictionary takes", () => {
  it("1,200 offenders in a dictionary of 1,000: the first 1,000 go in, the rest are told, nothing breaks", async () => {
    const { fake, edge, time, writes } = await fastlyRig();
    const keys = digests(1_200);
    const outcome = await edge.apply({ remove: [], put: entries(keys, time.now + hourMs) }, never);
    expect(new Set(fake.items("tidegate_0").keys())).toEqual(new Set(keys.slice(0, 1_000)));
    expect(outcome.refused.map(({ key }) => key)).toEqual(keys.slice(1_000));
    expect(outcome.refused[0]?.why).toContain("tidegate_0 is full (1000 items)");
    expect(outcome.left).toEqual([]);
    expect(writes()).toBe(1);
  });

  it("who takes another's place is put in the same write that removes the other", async () => {
    const { fake, edge, time, writes } = await fastlyRig();
    const keys = digests(1_200);
    await edge.apply({ remove: [], put: entries(keys.slice(0, 1_000), time.now + hourMs) }, never);
    time.now += 60_000;
    const outcome = await edge.apply(
      { remove: keys.slice(0, 200), put: entries(keys.slice(1_000), time.now + hourMs) },
      never,
    );
    expect(outcome).toEqual({ refused: [], left: [] });
    expect(new Set(fake.items("tidegate_0").keys())).toEqual(new Set(keys.slice(200)));
    expect(writes()).toBe(2);
  });

  it("items of others take room too, and are never moved", async () => {
    const { fake, edge, time } = await fastlyRig({ maxItems: 10 });
    for (let i = 0; i < 4; i++) fake.put("tidegate_0", `theirs ${i}`, "x");
    const keys = digests(8);
    const outcome = await edge.apply({ remove: [], put: entries(keys, time.now + hourMs) }, never);
    expect(outcome.refused.map(({ key }) => key)).toEqual(keys.slice(6));
    expect(fake.items("tidegate_0").size).toBe(10);
    expect((await edge.current([], never)).foreign).toBe(4);
  });

  it("what has ended makes room, and goes along with the next write", async () => {
    const { fake, edge, time, writes } = await fastlyRig({ maxItems: 10 });
    const [old, fresh] = [digests(10, "old"), digests(3, "new")];
    await edge.apply({ remove: [], put: entries(old, time.now + 60_000) }, never);
    time.now += 120_000;
    expect((await edge.current([], never)).entries.size).toBe(0);
    expect(await edge.apply({ remove: [], put: entries(fresh, time.now + hourMs) }, never)).toEqual({
      refused: [],
      left: [],
    });
    expect(new Set(fake.items("tidegate_0").keys())).toEqual(new Set(fresh));
    expect(writes()).toBe(2);
  });

  it("items left from another number of dictionaries are cleaned away, and count for nothing", async () => {
    const { fake, edge, time } = await fastlyRig({ shards: 2 });
    const far = `f${"0".repeat(63)}`;
    const near = `0${"0".repeat(63)}`;
    fake.put("tidegate_0", far, String(time.now / 1_000 + 3_600));
    const state = await edge.current([], never);
    expect([state.entries.size, state.foreign]).toEqual([0, 0]);
    await edge.apply({ remove: [], put: entries([near], time.now + hourMs) }, never);
    expect([...fake.items("tidegate_0").keys()]).toEqual([near]);
  });

  it("only keys the VCL looks up are taken: another one would refuse nobody", async () => {
    const { edge, time } = await fastlyRig();
    const known = [
      "203.0.113.7",
      "203.0.113.0/24",
      "2001:db8::1",
      "2001:db8:1:2::/64",
      "2001:db8:1::/48",
      ...digests(1),
    ];
    const unknown = ["203.0.0.0/16", "203.0.113.7/32", "2001:db8::/32", "2001:db8:1::/56", "x", "::/0"];
    expect([...known, ...unknown].filter(edge.abilities.takes)).toEqual(known);
    const { refused } = await edge.apply(
      { remove: [], put: entries([...known, ...unknown], time.now + hourMs) },
      never,
    );
    expect(refused.map(({ key }) => key)).toEqual(unknown);
  });

  it("what stands there already costs no write", async () => {
    const { edge, time, writes } = await fastlyRig();
    const put = entries(digests(5), time.now + hourMs);
    for (let i = 0; i < 3; i++) await edge.apply({ remove: [], put }, never);
    expect(writes()).toBe(1);
  });
});

describe("the hour's writes", () => {
  it("after a rest a change goes at once, the next one is spread over what is left of the hour", async () => {
    const { edge, time, writes } = await fastlyRig();
    const [one, two] = digests(2) as [string, string];
    expect((await edge.apply({ remove: [], put: entries([one], time.now + hourMs) }, never)).left).toEqual(
      [],
    );
    const held = await edge.apply({ remove: [], put: entries([two], time.now + hourMs) }, never);
    expect(held.left).toEqual([two]);
    // 999 are left, 300 of them in reserve.
    expect(held.resumeAt).toBeGreaterThan(time.now + 3_600);
    expect(held.resumeAt).toBeLessThan(time.now + 10_000);
    expect(writes()).toBe(1);
    time.now = held.resumeAt as number;
    expect((await edge.apply({ remove: [], put: entries([two], time.now + hourMs) }, never)).left).toEqual(
      [],
    );
    expect(writes()).toBe(2);
  });

  it("an attack of an hour never uses it up, and everybody is told in the end", async () => {
    const { fake, edge, time, writes } = await fastlyRig();
    const keys = digests(900);
    const started = time.now;
    for (let told = 0; time.now < started + hourMs - 1_000; ) {
      told = Math.min(keys.length, told + 3);
      const put = entries(keys.slice(0, told), started + 2 * hourMs);
      const { resumeAt } = await edge.apply({ remove: [], put }, never);
      time.now = Math.max(time.now + 4_000, resumeAt ?? 0);
    }
    expect(fake.items("tidegate_0").size).toBe(900);
    expect(writes()).toBeLessThanOrEqual(700);
  }, 60_000);

  it("removals pass in the reserve when entries have to wait", async () => {
    const { fake, edge, time } = await fastlyRig();
    const [held, next] = digests(2) as [string, string];
    await edge.apply({ remove: [], put: entries([held], time.now + hourMs) }, never);
    fake.setBudget({ remaining: 200, resetInMs: hourMs - 60_000 });
    time.now += 120_000;
    await edge.current([], never);
    fake.setBudget({ remaining: 50, resetInMs: hourMs - 180_000 });
    await edge.current([], never);
    const waiting = await edge.apply({ remove: [], put: entries([next], time.now + hourMs) }, never);
    expect(waiting.left).toEqual([next]);
    const removed = await edge.apply({ remove: [held], put: [] }, never);
    expect(removed).toEqual({ refused: [], left: [] });
    expect(fake.items("tidegate_0").size).toBe(0);
    await edge.setMode("off", never);
    expect(fake.items("tidegate_conf").get("mode")).toBe("off");
  });

  it("used up, nothing is sent until it begins anew, and then all of it", async () => {
    const { fake, edge, time, writes } = await fastlyRig();
    const keys = digests(3);
    fake.setBudget({ remaining: 0, resetInMs: 600_000 });
    const put = entries(keys, time.now + 2 * hourMs);
    const first = await edge.apply({ remove: [], put }, never);
    expect(first.left).toEqual(keys);
    expect(first.resumeAt).toBeGreaterThanOrEqual(time.now + 600_000);
    const before = writes();
    for (let i = 0; i < 20; i++) {
      time.now += 20_000;
      await edge.apply({ remove: [], put }, never);
    }
    expect(writes()).toBe(before);
    await expect(edge.setMode("off", never)).rejects.toMatchObject({
      code: "TG_EDGE_BUDGET",
      transient: true,
    });
    time.now = first.resumeAt as number;
    expect((await edge.apply({ remove: [], put }, never)).left).toEqual([]);
    expect(fake.items("tidegate_0").size).toBe(3);
  });

  it("429 out of the blue is waited out, whatever it says or does not say", async () => {
    const { fake, edge, time, writes } = await fastlyRig();
    const put = entries(digests(3), time.now + hourMs);
    const headers = { "Fastly-RateLimit-Remaining": "many", "Fastly-RateLimit-Reset": "-1" };
    fake.fail({ match: /^PATCH/, status: 429, body: "<html>slow down</html>", headers });
    const { left, resumeAt } = await edge.apply({ remove: [], put }, never);
    expect(left.length).toBe(3);
    expect(resumeAt).toBeGreaterThan(time.now);
    expect(writes()).toBe(1);
    time.now = resumeAt as number;
    expect((await edge.apply({ remove: [], put }, never)).left).toEqual([]);
  });

  it("after a rest every dictionary is told at once: one write each", async () => {
    const { edge, time, writes } = await fastlyRig({ shards: 16 });
    const outcome = await edge.apply({ remove: [], put: entries(digests(2_000), time.now + hourMs) }, never);
    expect(outcome).toEqual({ refused: [], left: [] });
    expect(writes()).toBe(16);
  });
});

describe("what Fastly refuses", () => {
  it("a batch with poison in it is halved until it is found; the rest goes in", async () => {
    const { fake, edge, time, writes } = await fastlyRig();
    const keys = digests(1_000);
    const bad = keys[617] as string;
    fake.poison.add(bad);
    const refused: RefusedKey[] = [];
    for (let left = keys; left.length > 0; ) {
      const outcome = await edge.apply({ remove: [], put: entries(left, time.now + hourMs) }, never);
      refused.push(...outcome.refused);
      left = [...outcome.left];
      // A slow machine needs more than one go.
      time.now = outcome.resumeAt ?? time.now;
    }
    expect(refused).toEqual([{ key: bad, why: expect.stringContaining("Fastly refuses it") }]);
    expect(fake.items("tidegate_0").size).toBe(999);
    expect(writes()).toBeLessThanOrEqual(40);
  });

  it("much poison does not eat the budget: what is not found now is left for later, and found then", async () => {
    const { fake, edge, time, writes } = await fastlyRig();
    const keys = digests(400);
    for (let i = 0; i < 400; i += 20) fake.poison.add(keys[i] as string);
    const refused = new Set<string>();
    for (;;) {
      const put = entries(
        keys.filter((key) => !refused.has(key)),
        time.now + hourMs,
      );
      const before = writes();
      const outcome = await edge.apply({ remove: [], put }, never);
      expect(writes() - before).toBeLessThanOrEqual(90);
      for (const { key } of outcome.refused) refused.add(key);
      if (outcome.left.length === 0) break;
      time.now = Math.max(time.now, outcome.resumeAt as number);
    }
    expect(refused).toEqual(fake.poison);
    expect(fake.items("tidegate_0").size).toBe(380);
  });

  it("somebody else removed it meanwhile: that spoils nothing", async () => {
    const { fake, edge, time } = await fastlyRig();
    const [gone, stays] = digests(2) as [string, string];
    await edge.apply({ remove: [], put: entries([gone], time.now + hourMs) }, never);
    time.now += 5_000;
    fake.service.dictionaries.forEach(({ items }) => void items.delete(gone));
    const outcome = await edge.apply({ remove: [gone], put: entries([stays], time.now + hourMs) }, never);
    expect(outcome).toEqual({ refused: [], left: [] });
    expect([...fake.items("tidegate_0").keys()]).toEqual([stays]);
  });

  it("a dictionary that takes less than it should fills up, and nothing breaks", async () => {
    const { fake, edge, time } = await fastlyRig({}, { maxItems: 50 });
    const outcome = await edge.apply({ remove: [], put: entries(digests(60), time.now + hourMs) }, never);
    expect(fake.items("tidegate_0").size).toBe(50);
    expect(outcome.refused.length + outcome.left.length).toBe(10);
  });
});

describe("an answer that does not come, or makes no sense", () => {
  it.each([
    ["500", { status: 500, body: "{}" }],
    ["503 in HTML", { status: 503, body: "<html>no</html>" }],
    ["a redirect", { status: 302, headers: { Location: "http://127.0.0.1:1/" } }],
    ["a broken connection", { isReset: "before" as const }],
    ["a connection broken after the work", { isReset: "after" as const }],
    ["200 in HTML", { status: 200, body: "<html>hello</html>" }],
    ["200 and nothing", { status: 200, body: "" }],
  ])("to a write, %s: the outcome is unknown, and the next look tells", async (_, fault) => {
    const { fake, edge, time } = await fastlyRig();
    const [key] = digests(1) as [string];
    const put = entries([key], time.now + hourMs);
    fake.fail({ match: /^PATCH/, ...fault });
    await expect(edge.apply({ remove: [], put }, never)).rejects.toMatchObject({
      code: "TG_EDGE_UNREACHED",
      transient: true,
    });
    const { entries: standing } = await edge.current([], never);
    expect(standing.has(key)).toBe(fake.items("tidegate_0").has(key));
    time.now += 60_000;
    await edge.apply({ remove: [], put }, never);
    expect(fake.items("tidegate_0").has(key)).toBe(true);
  });

  it.each([
    ["HTML", "<html>"],
    ["no list", '{"a":1}'],
    ["numbers", "[1,2,null]"],
    ["a huge one", `[${'{"number":1},'.repeat(1_000_000)}{}]`],
  ])("to a question, %s: it throws, and knows nothing", async (_, body) => {
    const { fake, edge } = await fastlyRig();
    fake.fail({ match: /^GET \/version$/, status: 200, body });
    await expect(edge.current([], never)).rejects.toMatchObject({
      name: expect.any(String),
      code: expect.stringMatching(/^TG_EDGE_/),
    });
    expect((await edge.current([], never)).entries.size).toBe(0);
  });

  it("a slow one is given up with its signal", async () => {
    const { fake, edge, time } = await fastlyRig();
    await edge.current([], never);
    fake.fail({ match: /^PATCH/, delayMs: 60_000 });
    const giveUp = new AbortController();
    const applying = edge.apply({ remove: [], put: entries(digests(1), time.now + hourMs) }, giveUp.signal);
    await vi.waitFor(() => expect(fake.calls.some(({ method }) => method === "PATCH")).toBe(true), 15_000);
    giveUp.abort();
    await expect(applying).rejects.toThrow();
  });

  it("strange items are somebody else's: kept, counted, never believed", async () => {
    const { fake, edge, time } = await fastlyRig();
    const [key] = digests(1) as [string];
    const strange: [string, string][] = [
      ["__proto__", "1"],
      [key, "99999999999999999999"],
      [digests(1, "b")[0] as string, "1e9"],
      ["203.0.113.9", "-5"],
      [" 203.0.113.9", String(time.now)],
      ["x".repeat(256), "true"],
    ];
    for (const [name, value] of strange) fake.put("tidegate_0", name, value);
    const state = await edge.current([], never);
    expect([state.entries.size, state.foreign]).toEqual([0, strange.length]);
    await edge.apply(
      { remove: strange.map(([name]) => name), put: entries(digests(2, "c"), time.now + hourMs) },
      never,
    );
    for (const [name, value] of strange) expect(fake.items("tidegate_0").get(name)).toBe(value);
  });
});

describe("what is wrong for good", () => {
  it("a token that is not accepted is said as such, and never shown", async () => {
    const { fake } = await fastlyRig();
    const edge = fastlyEdge(settingsFor(fake, { token: new Secret("wrong-secret") }));
    onTestFinished(() => edge.close());
    const failure = await edge.current([], never).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "TG_EDGE_DENIED", transient: false });
    expect(JSON.stringify(failure) + String(failure)).not.toContain("wrong-secret");
  });

  it("a service that the token does not know is said as such: no set-up would help", async () => {
    const { fake } = await fastlyRig();
    const edge = fastlyEdge(settingsFor(fake, { service: "nobody" }));
    onTestFinished(() => edge.close());
    await expect(edge.current([], never)).rejects.toMatchObject({
      code: "TG_EDGE_SETUP",
      transient: false,
      message: expect.stringContaining("there is no service nobody for this token"),
      help: expect.stringContaining("the service's id"),
    });
  });

  it("a missing dictionary says how to set it up", async () => {
    const { fake } = await fastlyRig();
    for (const more of [{ prefix: "other" }, { shards: 4 }]) {
      const edge = fastlyEdge(settingsFor(fake, more));
      onTestFinished(() => edge.close());
      await expect(edge.current([], never)).rejects.toMatchObject({
        code: "TG_EDGE_SETUP",
        transient: false,
        help: expect.stringContaining("tidegate edge setup fastly"),
      });
    }
  });

  it("dictionaries made anew are another epoch, and are found within a minute", async () => {
    const { fake, edge, time } = await fastlyRig();
    const { epoch } = await edge.current([], never);
    fake.create("tidegate_0");
    time.now += 61_000;
    const after = await edge.current([], never);
    expect(after.epoch).not.toBe(epoch);
    await edge.apply({ remove: [], put: entries(digests(1), time.now + hourMs) }, never);
    expect(fake.items("tidegate_0").size).toBe(1);
  });
});

describe("looking", () => {
  it("dictionaries in which nothing changed are not listed again", async () => {
    const { fake, edge, time } = await fastlyRig({ shards: 2 });
    for (const [i, key] of digests(250, "x").entries())
      fake.put(/^[0-7]/.test(key) ? "tidegate_0" : "tidegate_1", key, String(time.now / 1_000 + 60 + i));
    const lists = () => fake.calls.filter(({ path }) => path.endsWith("/items")).length;
    expect((await edge.current([], never)).entries.size).toBe(250);
    const first = lists();
    expect((await edge.current([], never)).entries.size).toBe(250);
    expect(lists()).toBe(first);
    fake.put("tidegate_1", `f${"0".repeat(63)}`, String(time.now / 1_000 + 60));
    expect((await edge.current([], never)).entries.size).toBe(251);
    expect(lists()).toBeGreaterThan(first);
  });

  it("how long a change takes to arrive is measured with a canary, if there is a URL to ask", async () => {
    const { fake, edge: silent, time } = await fastlyRig();
    await silent.apply({ remove: [], put: entries(digests(1, "s"), time.now + hourMs) }, never);
    expect(fake.items("tidegate_conf").has("canary")).toBe(false);
    expect(silent.propagationMs()).toBe(undefined);

    const edge = fastlyEdge(settingsFor(fake, { shards: 1, canary: `${fake.url}/canary` }));
    onTestFinished(() => edge.close());
    await edge.apply({ remove: [], put: entries(digests(1, "a"), Date.now() + hourMs) }, never);
    await vi.waitFor(() => expect(edge.propagationMs()).toEqual(expect.any(Number)), { timeout: 30_000 });
    expect(fake.items("tidegate_conf").get("canary")).toMatch(/^\d{13}$/);
  }, 40_000);
});
