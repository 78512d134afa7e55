import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { fixedWindow } from "./algorithms/fixed-window/fixed-window.js";
import type { Check } from "./check.js";
import type { Verdict } from "./decision.js";
import { ConfigError, StoreError } from "./errors.js";
import type { FailureOptions } from "./failure-options.js";
import { guardStore } from "./guard.js";
import type { Answer, Store } from "./store.js";
import { memoryStore } from "./stores/memory/memory-store.js";

const limit = fixedWindow({ limit: 5, window: "1h" });
const check = (key = "k", cost = 1): Check => ({ rule: "r", key, limit, cost });
const never = () => new Promise<never>(() => {});

/** A store on the far side of a wire that can be cut, hung or made to lie. It counts what reaches it. */
class Remote {
  readonly counts = memoryStore();
  asked = 0;
  fault: (() => Answer<unknown>) | undefined;

  readonly store: Store = {
    decide: (checks) => this.#reach(() => this.counts.decide(checks)),
    peek: (checks) => this.#reach(() => this.counts.peek(checks)),
    refund: (charges) => this.#reach(() => this.counts.refund(charges)),
    hold: (rule, key, forMs) => this.#reach(() => this.counts.hold(rule, key, forMs)),
    forget: (checks) => this.#reach(() => this.counts.forget(checks)),
  };

  #reach<T>(act: () => T): Answer<T> {
    this.asked++;
    return this.fault === undefined ? Promise.resolve().then(act) : (this.fault() as Answer<T>);
  }
}

const down = () => Promise.reject(new Error("ECONNREFUSED"));
const longPause = { failures: 5, pauseMs: 60_000 };

function guarded(options: FailureOptions = {}) {
  const remote = new Remote();
  const store = guardStore(remote.store, { deadlineMs: 20, breaker: longPause, ...options }, memoryStore);
  const decide = async (key?: string, cost?: number) =>
    ((await store.decide([check(key, cost)])) as Verdict[])[0] as Verdict;
  const remaining = (key?: string) => remote.counts.peek([check(key)])[0]?.remaining;
  return { remote, store, decide, remaining };
}

describe("the deadline", () => {
  it("a store that answers in time is the one that counts", async () => {
    const { decide, remaining } = guarded();
    expect(await decide()).toMatchObject({ allowed: true, remaining: 4, source: "store" });
    expect(remaining()).toBe(4);
  });

  it("a store that hangs costs the deadline, then this process answers", async () => {
    const { remote, decide } = guarded({ deadlineMs: 40 });
    remote.fault = never;
    const began = performance.now();
    expect(await decide()).toMatchObject({ allowed: true, remaining: 4, source: "local" });
    expect(performance.now() - began).toBeGreaterThanOrEqual(40);
  });

  it("a store that answers at once is not raced", () => {
    const store = guardStore(memoryStore(), {}, memoryStore);
    expect(store.decide([check()])).toMatchObject([{ remaining: 4, source: "store" }]);
  });

  it("an answer after the deadline is nobody's answer and no recovery", async () => {
    const { remote, decide } = guarded({ breaker: { failures: 1, pauseMs: 60_000 } });
    remote.fault = () => sleep(60).then(() => remote.counts.decide([check()]));
    expect((await decide()).source).toBe("local");
    await sleep(80);
    expect((await decide()).source).toBe("local");
    expect(remote.asked).toBe(1);
  });
});

describe("the breaker", () => {
  it("five failures in a row and the store is left alone", async () => {
    const { remote, decide } = guarded();
    remote.fault = down;
    for (let i = 0; i < 20; i++) expect((await decide()).source).toBe("local");
    expect(remote.asked).toBe(5);
  });

  it("a hung store makes the first few wait, nobody after them", async () => {
    const { remote, decide } = guarded({ deadlineMs: 30 });
    remote.fault = never;
    let waited = 0;
    for (let i = 0; i < 50; i++) {
      const answer = decide();
      const isImmediate = await Promise.race([answer.then(() => true), new Promise(setImmediate)]);
      if (isImmediate !== true) waited++;
      await answer;
    }
    expect(waited).toBe(5);
  });

  it("four failures and a success, and it starts counting anew", async () => {
    const { remote, decide } = guarded();
    for (let round = 0; round < 3; round++) {
      remote.fault = down;
      for (let i = 0; i < 4; i++) expect((await decide(`${round}`)).source).toBe("local");
      remote.fault = undefined;
      expect((await decide(`${round}`)).source).toBe("store");
    }
    expect(remote.asked).toBe(15);
  });

  it("after the pause one call alone probes; the others do not wait for it", async () => {
    const { remote, decide } = guarded({ breaker: { failures: 5, pauseMs: 40 } });
    remote.fault = down;
    for (let i = 0; i < 5; i++) await decide();
    await sleep(60);
    remote.fault = never;
    const answers = Array.from({ length: 10 }, () => decide());
    const soon = await Promise.race([Promise.all(answers.slice(1)), sleep(2000, "waited")]);
    expect(soon).not.toBe("waited");
    expect(remote.asked).toBe(6);
    await answers[0];
  });

  it("a probe that succeeds closes it, one that fails opens it for another pause", async () => {
    const { remote, decide } = guarded({ breaker: { failures: 2, pauseMs: 40 } });
    remote.fault = down;
    await decide();
    await decide();
    await sleep(60);
    await decide();
    expect(remote.asked).toBe(3);
    await decide();
    expect(remote.asked).toBe(3);
    await sleep(60);
    remote.fault = undefined;
    expect((await decide()).source).toBe("store");
    expect((await decide()).source).toBe("store");
    expect(remote.asked).toBe(5);
  });

  it("a probe that turns out to be a wrong setting does not shut the store out for good", async () => {
    const { remote, decide } = guarded({ breaker: { failures: 1, pauseMs: 20 } });
    remote.fault = down;
    await decide();
    await sleep(40);
    remote.fault = () => Promise.reject(new ConfigError("TG_X", "x", "wrong.", "Fix it."));
    await expect(decide()).rejects.toThrow("TG_X");
    remote.fault = undefined;
    expect((await decide()).source).toBe("store");
  });

  it("says when it begins and when it ends, once each, with the failure that tipped it", async () => {
    const onDegraded = vi.fn();
    const onRecovered = vi.fn();
    const { remote, decide } = guarded({
      breaker: { failures: 3, pauseMs: 30 },
      onDegraded,
      onRecovered,
    });
    for (let outage = 1; outage <= 2; outage++) {
      remote.fault = () => Promise.reject(new Error(`outage ${outage}`));
      await Promise.all(Array.from({ length: 10 }, () => decide()));
      await sleep(50);
      await decide();
      expect(onDegraded).toHaveBeenCalledTimes(outage);
      expect(onDegraded.mock.lastCall?.[0]).toMatchObject({ message: `outage ${outage}` });
      remote.fault = undefined;
      await sleep(50);
      await decide();
      await decide();
      expect(onRecovered).toHaveBeenCalledTimes(outage);
    }
  });

  it("is silent about a single failure; the verdict's source says it", async () => {
    const onDegraded = vi.fn();
    const onRecovered = vi.fn();
    const { remote, decide } = guarded({ onDegraded, onRecovered });
    remote.fault = down;
    expect((await decide()).source).toBe("local");
    remote.fault = undefined;
    expect((await decide()).source).toBe("store");
    expect(onDegraded).not.toHaveBeenCalled();
    expect(onRecovered).not.toHaveBeenCalled();
  });

  it("a hook that throws changes no answer", async () => {
    const complained = vi.spyOn(console, "error").mockImplementation(() => {});
    const boom = () => {
      throw new Error("in the hook");
    };
    const { remote, decide } = guarded({
      breaker: { failures: 1, pauseMs: 20 },
      onDegraded: boom,
      onRecovered: boom,
    });
    remote.fault = down;
    expect((await decide()).source).toBe("local");
    remote.fault = undefined;
    await sleep(40);
    expect((await decide()).source).toBe("store");
    expect(complained).toHaveBeenCalledTimes(2);
    complained.mockRestore();
  });
});

describe("while the store is out of reach", () => {
  it("local: this process counts by the same policy", async () => {
    const { remote, decide } = guarded({ onStoreFailure: "local" });
    remote.fault = down;
    const answers = [];
    for (let i = 0; i < 7; i++) answers.push(await decide());
    expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, false, false]);
    expect(new Set(answers.map(({ source }) => source))).toEqual(new Set(["local"]));
  });

  it("allow: everyone is let in and nobody counted", async () => {
    const { remote, decide } = guarded({ onStoreFailure: "allow" });
    remote.fault = down;
    for (let i = 0; i < 7; i++)
      expect(await decide("k", 2)).toMatchObject({
        allowed: true,
        source: "none",
        cost: 2,
        remaining: 5,
        retryAfterMs: 0,
        name: "r/3600",
      });
  });

  it("deny: no one is let in, and told to come back after the pause", async () => {
    const { remote, decide } = guarded({ onStoreFailure: "deny" });
    remote.fault = down;
    for (let i = 0; i < 7; i++)
      expect(await decide()).toMatchObject({
        allowed: false,
        source: "none",
        remaining: 0,
        retryAfterMs: 60_000,
      });
  });

  it("a client the store held stays held", async () => {
    const { remote, decide } = guarded();
    remote.counts.hold("r", "offender", 60_000);
    expect((await decide("offender")).heldUntil).toBeDefined();
    remote.fault = down;
    expect(await decide("offender")).toMatchObject({ allowed: false, source: "local" });
    expect(await decide("other")).toMatchObject({ allowed: true, source: "local" });
  });

  it("a client held through this limiter stays held, though nobody asked about it since", async () => {
    const { remote, store, decide } = guarded();
    await store.hold("r", "offender", 60_000);
    remote.fault = down;
    expect(await decide("offender")).toMatchObject({ allowed: false, source: "local" });
  });

  it("a hold that was lifted through this limiter is lifted here too", async () => {
    const { remote, store, decide } = guarded();
    await store.hold("r", "k", 60_000);
    await decide();
    await store.forget([check()]);
    remote.fault = down;
    expect(await decide()).toMatchObject({ allowed: true, source: "local" });
  });

  it("hold and forget reject with a StoreError, and the hold is kept here at least", async () => {
    const { remote, store, decide } = guarded();
    remote.fault = down;
    await expect(store.hold("r", "k", 60_000)).rejects.toBeInstanceOf(StoreError);
    await expect(store.forget([check("other")])).rejects.toMatchObject({
      code: "TG_STORE_UNREACHABLE",
      transient: true,
      message: expect.stringContaining("ECONNREFUSED"),
    });
    for (let i = 0; i < 3; i++) await decide("another");
    await expect(async () => store.forget([check("other")])).rejects.toMatchObject({
      code: "TG_STORE_PAUSED",
      transient: true,
    });
    expect(await decide()).toMatchObject({ allowed: false, source: "local" });
  });

  it("hold and forget on a hung store reject at the deadline", async () => {
    const { remote, store } = guarded();
    remote.fault = never;
    await expect(store.hold("r", "k", 60_000)).rejects.toMatchObject({ code: "TG_STORE_DEADLINE" });
    await expect(store.forget([check()])).rejects.toMatchObject({ code: "TG_STORE_DEADLINE" });
  });

  it("what was charged here is given back here, what the store charged there", async () => {
    const { remote, store, decide, remaining } = guarded();
    const charge = ({ key, cost, at, source, resetAfterMs }: Verdict) => ({
      ...check(key, cost),
      at,
      source,
      resetAfterMs,
    });
    const byStore = await decide("k", 2);
    remote.fault = down;
    const here = await decide("k", 3);
    expect(here).toMatchObject({ source: "local", remaining: 2 });
    await store.refund([charge(here)]);
    expect(await decide("k", 5)).toMatchObject({ allowed: true, source: "local", remaining: 0 });
    expect(remaining()).toBe(3);
    remote.fault = undefined;
    await store.refund([charge(byStore)]);
    expect(remaining()).toBe(5);
  });

  it("a refund the store does not take is lost, which is the safe side, and nobody's error", async () => {
    const { remote, store, decide, remaining } = guarded();
    const { at } = await decide();
    remote.fault = down;
    await store.refund([{ ...check(), at, source: "store" }]);
    expect(remaining()).toBe(4);
  });

  it("what was counted here meanwhile is not added to the store's counts", async () => {
    const { remote, decide } = guarded({ breaker: { failures: 1, pauseMs: 20 } });
    remote.fault = down;
    for (let i = 0; i < 5; i++) await decide();
    remote.fault = undefined;
    await sleep(40);
    expect(await decide()).toMatchObject({ remaining: 4, source: "store" });
  });
});

describe("a store that is wrong", () => {
  const verdict = memoryStore().decide([check()])[0] as Verdict;
  const lies: Record<string, () => unknown> = {
    "answers too few": () => Promise.resolve([]),
    "answers too many": () => Promise.resolve([verdict, verdict]),
    "answers null": () => Promise.resolve(null),
    "answers undefined at once": () => undefined,
    "answers a text": () => Promise.resolve("OK"),
    "answers null for a verdict": () => Promise.resolve([null]),
    "answers NaN remaining": () => Promise.resolve([{ ...verdict, remaining: Number.NaN }]),
    "answers a negative remaining": () => Promise.resolve([{ ...verdict, remaining: -1 }]),
    "answers texts for numbers": () => Promise.resolve([{ ...verdict, remaining: "4" }]),
    "answers a text for allowed": () => Promise.resolve([{ ...verdict, allowed: "false" }]),
    "answers a NaN wait": () => Promise.resolve([{ ...verdict, retryAfterMs: Number.NaN }]),
    "answers a text for a wait": () => Promise.resolve([{ ...verdict, allowed: false, retryAfterMs: "1" }]),
    "throws at once": () => {
      throw new Error("bang");
    },
    "throws nothing at all": () => {
      throw undefined;
    },
    "rejects with null": () => Promise.reject(null),
    "has a then that never settles": () => ({
      // biome-ignore lint/suspicious/noThenProperty: this is the lie
      then() {},
    }),
    "has a then that throws": () => ({
      // biome-ignore lint/suspicious/noThenProperty: this is the lie
      then() {
        throw new Error("bang");
      },
    }),
  };

  it.each(Object.entries(lies))("that %s counts as failed", async (_, lie) => {
    const onDegraded = vi.fn();
    const { remote, decide } = guarded({ onDegraded });
    remote.fault = lie as () => Answer<unknown>;
    for (let i = 0; i < 5; i++) expect(await decide()).toMatchObject({ allowed: true, source: "local" });
    expect(onDegraded).toHaveBeenCalledTimes(1);
    expect(await decide()).toMatchObject({ allowed: false, source: "local" });
    expect(remote.asked).toBe(5);
  });

  it("that answers twice is heard once", async () => {
    const { remote, decide } = guarded();
    remote.fault = () =>
      ({
        // biome-ignore lint/suspicious/noThenProperty: this is the lie
        then(resolve: (verdicts: Verdict[]) => void, reject: (error: unknown) => void) {
          resolve([verdict]);
          reject(new Error("after all not"));
          resolve([{ ...verdict, allowed: false }]);
        },
      }) as unknown as Promise<Verdict[]>;
    expect(await decide()).toMatchObject({ allowed: true, source: "store" });
    expect(await decide()).toMatchObject({ allowed: true, source: "store" });
  });

  it("that holds somebody until NaN makes this process forget no hold", async () => {
    const { remote, store, decide } = guarded();
    await store.hold("r", "offender", 60_000);
    remote.fault = () => Promise.resolve([{ ...verdict, heldUntil: Number.NaN }]);
    await decide();
    remote.fault = down;
    expect(await decide("offender")).toMatchObject({ allowed: false, source: "local" });
  });

  it("a wrong setting is no failure: it reaches the caller and leaves the breaker alone", async () => {
    const { remote, decide } = guarded();
    remote.fault = () => Promise.reject(new ConfigError("TG_X", "limit", "wrong.", "Fix it."));
    for (let i = 0; i < 10; i++) await expect(decide()).rejects.toBeInstanceOf(ConfigError);
    remote.fault = () => {
      throw new ConfigError("TG_X", "limit", "wrong.", "Fix it.");
    };
    for (let i = 0; i < 10; i++) await expect(decide()).rejects.toBeInstanceOf(ConfigError);
    expect(remote.asked).toBe(20);
  });

  it("one that can only decide says what it can not do, and goes on deciding", async () => {
    const counts = memoryStore();
    const onDegraded = vi.fn();
    const store = guardStore(
      { decide: (checks) => counts.decide(checks) } as Store,
      { onDegraded },
      memoryStore,
    );
    const acts: (() => unknown)[] = [
      () => store.peek([check()]),
      () => store.refund([check()]),
      () => store.hold("r", "k", 1000),
      () => store.forget([check()]),
    ];
    for (const act of [...acts, ...acts])
      await expect(async () => act()).rejects.toMatchObject({ code: "TG_STORE_VERB", transient: false });
    expect(await store.decide([check()])).toMatchObject([{ remaining: 4, source: "store" }]);
    expect(onDegraded).not.toHaveBeenCalled();
  });
});

describe("a store that decides one check alone", () => {
  function alone(options: FailureOptions = {}) {
    const counts = memoryStore();
    const fault: { instead: ((check: Check) => unknown) | undefined } = { instead: undefined };
    const answer = <T>(check: Check, act: () => T) =>
      fault.instead === undefined ? act() : (fault.instead(check) as T);
    const store = guardStore(
      {
        decide: (checks: readonly Check[]) => answer(checks[0] as Check, () => counts.decide(checks)),
        decideOne: (check: Check) => answer(check, () => counts.decideOne(check)),
      } as Store,
      { breaker: longPause, ...options },
      memoryStore,
    );
    const decideOne = async () => (await store.decideOne?.(check())) as Verdict;
    return { counts, fault, decideOne };
  }
  const broken = () => {
    throw new Error("broken");
  };

  it("is asked that way, and counts", async () => {
    const { counts, decideOne } = alone();
    expect(await decideOne()).toMatchObject({ allowed: true, remaining: 4, source: "store" });
    expect(counts.peek([check()])).toMatchObject([{ remaining: 4 }]);
  });

  it("one that does not is not asked that way", () => {
    expect(guarded().store.decideOne).toBeUndefined();
  });

  it.each([
    ["throws", broken],
    ["says nothing", () => undefined],
    ["answers later", () => Promise.resolve()],
    ["answers with a list", (check: Check) => memoryStore().decide([check])],
    ["does not say whether", () => ({ remaining: 1, retryAfterMs: 0 })],
    ["has less than nothing left", () => ({ allowed: true, remaining: -1, retryAfterMs: 0 })],
    ["does not know the wait", () => ({ allowed: true, remaining: 1, retryAfterMs: Number.NaN })],
  ])("while it %s, this process counts", async (_fault, instead) => {
    const { fault, decideOne } = alone();
    fault.instead = instead;
    expect(await decideOne()).toMatchObject({ allowed: true, remaining: 4, source: "local" });
  });

  it("is left alone after failures in a row, and asked again after the pause", async () => {
    const onDegraded = vi.fn();
    const onRecovered = vi.fn();
    const { fault, decideOne } = alone({ breaker: { failures: 2, pauseMs: 20 }, onDegraded, onRecovered });
    const instead = vi.fn(broken);
    fault.instead = instead;
    for (let i = 0; i < 4; i++) expect((await decideOne()).source).toBe("local");
    expect(instead).toHaveBeenCalledTimes(2);
    expect(onDegraded).toHaveBeenCalledTimes(1);
    fault.instead = undefined;
    await sleep(30);
    expect(await decideOne()).toMatchObject({ remaining: 4, source: "store" });
    expect(onRecovered).toHaveBeenCalledTimes(1);
  });

  it("a wrong setting reaches the caller", async () => {
    const { fault, decideOne } = alone();
    fault.instead = () => {
      throw new ConfigError("TG_X", "limit", "wrong.", "Fix it.");
    };
    await expect(decideOne()).rejects.toBeInstanceOf(ConfigError);
  });
});

describe("settings of failure", () => {
  const build = (options: object) => () => guardStore(memoryStore(), options, memoryStore);

  it.each([
    [{ deadlineMs: 0 }, "TG_DEADLINE", "deadlineMs"],
    [{ deadlineMs: -5 }, "TG_DEADLINE", "deadlineMs"],
    [{ deadlineMs: Number.NaN }, "TG_DEADLINE", "deadlineMs"],
    [{ deadlineMs: Number.POSITIVE_INFINITY }, "TG_DEADLINE", "deadlineMs"],
    [{ deadlineMs: "100" }, "TG_DEADLINE", "deadlineMs"],
    [{ deadlineMs: null }, "TG_DEADLINE", "deadlineMs"],
    [{ breaker: { failures: 0 } }, "TG_BREAKER", "breaker.failures"],
    [{ breaker: { failures: 1.5 } }, "TG_BREAKER", "breaker.failures"],
    [{ breaker: { failures: "5" } }, "TG_BREAKER", "breaker.failures"],
    [{ breaker: { pauseMs: 0 } }, "TG_BREAKER", "breaker.pauseMs"],
    [{ breaker: { pauseMs: "1000" } }, "TG_BREAKER", "breaker.pauseMs"],
    [{ breaker: { pause: 1000 } }, "TG_OPTION_UNKNOWN", "breaker.pause"],
    [{ breaker: null }, "TG_OPTIONS", "breaker"],
    [{ onStoreFailure: "open" }, "TG_STORE_FAILURE", "onStoreFailure"],
    [{ onDegraded: "log" }, "TG_HOOK", "onDegraded"],
    [{ onRecovered: {} }, "TG_HOOK", "onRecovered"],
  ])("%o is refused by name", (options, code, path) => {
    expect(build(options)).toThrow(ConfigError);
    expect(build(options)).toThrow(expect.objectContaining({ code, path, help: expect.any(String) }));
  });
});

describe("a store that is sure of its word", () => {
  it("is looked after like any other once its decide was replaced, and until it has recovered", async () => {
    const told: string[] = [];
    const store = memoryStore();
    const breaker = { failures: 1, pauseMs: 1 };
    const hooks = { onDegraded: () => told.push("degraded"), onRecovered: () => told.push("recovered") };
    const guarded = guardStore(store, { breaker, ...hooks }, memoryStore);
    const check = { rule: "r", key: "k", limit: fixedWindow({ limit: 9, window: "1h" }) };
    const sourceOf = async () => (await guarded.decide([check]))[0]?.source;
    expect(await sourceOf()).toBe("store");
    store.decide = () => {
      throw new Error("away");
    };
    expect(await sourceOf()).toBe("local");
    Reflect.deleteProperty(store, "decide");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([await sourceOf(), await sourceOf()]).toEqual(["store", "store"]);
    expect(told).toEqual(["degraded", "recovered"]);
  });
});
