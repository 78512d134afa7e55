import { describe, expect, it } from "vitest";
import type { CustomerRecord, Directory, DirectoryWatcher, ListEntry } from "../../directory.js";
import { StoreError } from "../../errors.js";
import type { Warning } from "../../gate.js";
import type { Answer } from "../../store.js";
import { virtualClock } from "../../testing/virtual-clock.js";
import { type Address, parseAddress } from "../identity/address.js";
import { memoryDirectory } from "./memory-directory.js";
import { type Mirror, mirrorOf } from "./mirror.js";

function ip(text: string): Address {
  return parseAddress(text) as Address;
}

function recordOf(mirror: Mirror, id: string): Answer<CustomerRecord | undefined> {
  const customer = mirror.customer(id);
  return customer instanceof Promise ? customer.then((known) => known?.record) : customer?.record;
}

/** A directory elsewhere: each read waits until the test answers it. */
function remote() {
  const reads: { id: string; answer(record?: CustomerRecord): void; fail(error: unknown): void }[] = [];
  let watcher: DirectoryWatcher | undefined;
  const directory: Directory = {
    ...memoryDirectory(),
    customer: (id) =>
      new Promise((answer, fail) => {
        reads.push({ id, answer, fail });
      }),
    watch(given) {
      watcher = given;
      return () => {
        watcher = undefined;
      };
    },
  };
  return {
    directory,
    reads,
    tell: () => watcher as DirectoryWatcher,
    isWatched: () => watcher !== undefined,
  };
}

function open(directory: Directory, options: { maxCustomers?: number; deadlineMs?: number } = {}) {
  const clock = virtualClock(1_000_000);
  const warnings: Warning[] = [];
  const mirror = mirrorOf(directory, {
    now: clock,
    warn: (warning) => warnings.push(warning),
    warnAgain: (warning) => warnings.push(warning),
    deadlineMs: 10_000,
    ...options,
  });
  return { mirror, clock, warnings };
}

describe("mirrored lists", () => {
  it("are the directory's, from the first moment and after every change", async () => {
    const directory = memoryDirectory();
    directory.put("safelist", { address: "102.232.240.209", who: "ann" });
    const { mirror } = open(directory);
    await mirror.ready;
    expect(mirror.find("safelist", ip("102.232.240.209"))).toEqual({
      address: "102.232.240.209",
      who: "ann",
    });
    expect(mirror.find("blocklist", ip("102.232.240.209"))).toBeUndefined();
    directory.put("blocklist", { address: "45.0.186.0/24" });
    expect(mirror.find("blocklist", ip("45.0.186.198"))?.address).toBe("45.0.186.0/24");
    directory.remove("blocklist", "45.0.186.7/24");
    expect(mirror.find("blocklist", ip("45.0.186.198"))).toBeUndefined();
    expect([mirror.size("safelist"), mirror.size("blocklist")]).toEqual([1, 0]);
  });

  it("each entry ends at its own time, though nobody says so", () => {
    const { directory, tell } = remote();
    const { mirror, clock } = open(directory);
    tell().reset("blocklist", [{ address: "45.0.186.198", until: clock() + 1000 }]);
    clock.advance(999);
    expect(mirror.find("blocklist", ip("45.0.186.198"))).toBeDefined();
    clock.advance(1);
    expect(mirror.find("blocklist", ip("45.0.186.198"))).toBeUndefined();
  });

  it.each([
    ["198.51.100.1", "198.51.100.1/32"],
    ["198.51.100.1/32", "::ffff:198.51.100.1"],
    ["10.1.2.3/8", "10.0.0.0/8"],
    ["2001:db8::1", "2001:DB8:0::1"],
  ])("a block listed as %s and as %s stays as long as either does", (one, other) => {
    const { directory, tell } = remote();
    const { mirror, clock } = open(directory);
    const found = () => mirror.find("blocklist", ip(one.split("/")[0] as string))?.address;
    tell().reset("blocklist", [{ address: one }, { address: other, until: clock() + 1000 }]);
    expect(found()).toBe(one);
    tell().unlisted("blocklist", one);
    expect(found()).toBe(other);
    tell().listed("blocklist", { address: one, until: clock() + 2000 });
    clock.advance(1500);
    expect(found()).toBe(one);
    tell().unlisted("blocklist", other);
    expect(found()).toBe(one);
    tell().unlisted("blocklist", one);
    expect(found()).toBeUndefined();
    expect(mirror.size("blocklist")).toBe(0);
  });

  it("a reset leaves exactly what it names", () => {
    const { directory, tell } = remote();
    const { mirror } = open(directory);
    tell().reset("blocklist", [{ address: "1.1.1.1" }, { address: "2.2.2.2" }]);
    tell().reset("safelist", [{ address: "3.3.3.3" }]);
    tell().reset("blocklist", [{ address: "2.2.2.2" }]);
    expect(mirror.find("blocklist", ip("1.1.1.1"))).toBeUndefined();
    expect(mirror.find("blocklist", ip("2.2.2.2"))).toBeDefined();
    expect(mirror.find("safelist", ip("3.3.3.3"))).toBeDefined();
  });

  it("are ready once both have been told, or when closed, and are not followed after that", async () => {
    const { directory, tell, isWatched } = remote();
    const { mirror } = open(directory);
    tell().reset("blocklist", []);
    tell().reset("blocklist", []);
    expect(await isReady(mirror)).toBe(false);
    tell().reset("safelist", []);
    expect(await isReady(mirror)).toBe(true);
    mirror.close();
    expect(isWatched()).toBe(false);
    const second = open(remote().directory).mirror;
    second.close();
    expect(await isReady(second)).toBe(true);
  });

  it("what is no address is ignored, and told once", () => {
    const { directory, tell } = remote();
    const { mirror, warnings } = open(directory);
    const junk = ["not-an-ip", "10.0.0.0/99", "x".repeat(65_536), null, undefined, 7].map(
      (address) => ({ address }) as ListEntry,
    );
    tell().reset("blocklist", [...junk, { address: "1.1.1.1" }]);
    for (const entry of junk) {
      tell().listed("safelist", entry);
      tell().unlisted("blocklist", entry.address);
    }
    expect([mirror.size("safelist"), mirror.size("blocklist")]).toEqual([0, 1]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({ code: "TG_LIST_ADDRESS" });
    expect(warnings[0]?.message).toContain('"not-an-ip"');
  });

  it("stay in force while the directory is out of reach, which is told once for each outage", () => {
    const { directory, tell } = remote();
    const { mirror, warnings } = open(directory);
    tell().reset("blocklist", [{ address: "1.1.1.1" }]);
    tell().failed(new Error("connection lost"));
    tell().failed(new Error("connection lost"));
    expect(mirror.find("blocklist", ip("1.1.1.1"))).toBeDefined();
    expect(warnings.map(({ code }) => code)).toEqual(["TG_DIRECTORY_UNREACHABLE"]);
    expect(warnings[0]?.message).toContain("connection lost");
    tell().reset("blocklist", []);
    tell().failed("again");
    expect(warnings).toHaveLength(2);
  });

  it("what a directory says of itself is passed on in its words, and is no outage", () => {
    const { directory, tell } = remote();
    const { warnings } = open(directory);
    const polling = new StoreError("TG_DIRECTORY_POLLING", "redis", "pushes nothing.", "Allow it.", {
      transient: true,
    });
    tell().failed(polling);
    expect(warnings).toMatchObject([
      {
        code: "TG_DIRECTORY_POLLING",
        message: "redis: pushes nothing.",
        help: "Allow it.",
      },
    ]);
    tell().failed(new Error("connection lost"));
    expect(warnings.map(({ code }) => code)).toEqual(["TG_DIRECTORY_POLLING", "TG_DIRECTORY_UNREACHABLE"]);
  });

  it("an entry that names everyone holds, and is told", () => {
    const { directory, tell } = remote();
    const { mirror, warnings } = open(directory);
    tell().listed("safelist", { address: "0.0.0.0/0" });
    expect(mirror.find("safelist", ip("203.0.113.7"))).toBeDefined();
    expect(warnings).toMatchObject([{ code: "TG_LIST_EVERYONE" }]);
  });

  it("a change made here holds here before the directory tells of it", () => {
    const { mirror } = open(remote().directory);
    mirror.listed("blocklist", { address: "1.1.1.1" });
    expect(mirror.find("blocklist", ip("1.1.1.1"))).toBeDefined();
    mirror.unlisted("blocklist", "1.1.1.1");
    expect(mirror.find("blocklist", ip("1.1.1.1"))).toBeUndefined();
  });
});

describe("mirrored customers", () => {
  it("told to be read anew while nothing can be read, stay as last known", async () => {
    const { directory, reads, tell } = remote();
    const { mirror, clock } = open(directory);
    const first = recordOf(mirror, "c");
    reads[0]?.answer({ tier: "pro" });
    await first;
    for (const changed of [undefined, "c"]) {
      tell().customerChanged(changed);
      const again = recordOf(mirror, "c");
      reads.at(-1)?.fail(new Error("no connection"));
      expect(await again).toEqual({ tier: "pro" });
      expect(recordOf(mirror, "c")).toEqual({ tier: "pro" });
      clock.advance("2s");
    }
    const back = recordOf(mirror, "c");
    reads.at(-1)?.answer({ tier: "free" });
    expect(await back).toEqual({ tier: "free" });
  });

  it("are read on first sight, once for all who ask, and then answered at once", async () => {
    const { directory, reads } = remote();
    const { mirror } = open(directory);
    const asked = [recordOf(mirror, "c"), recordOf(mirror, "c"), recordOf(mirror, "c")];
    reads[0]?.answer({ tier: "pro" });
    expect(await Promise.all(asked)).toEqual([{ tier: "pro" }, { tier: "pro" }, { tier: "pro" }]);
    expect(recordOf(mirror, "c")).toEqual({ tier: "pro" });
    expect(reads).toHaveLength(1);
  });

  it("who have nothing on record are remembered too", async () => {
    const { directory, reads } = remote();
    const { mirror } = open(directory);
    const asked = recordOf(mirror, "nobody");
    reads[0]?.answer(undefined);
    await asked;
    expect(recordOf(mirror, "nobody")).toBeUndefined();
    expect(reads).toHaveLength(1);
  });

  it("of a directory that answers at once are answered at once", () => {
    const directory = memoryDirectory();
    const { mirror } = open(directory);
    expect(recordOf(mirror, "c")).toBeUndefined();
    directory.putCustomer("c", { tier: "pro" });
    expect(recordOf(mirror, "c")).toEqual({ tier: "pro" });
    directory.putCustomer("c", {});
    expect(recordOf(mirror, "c")).toBeUndefined();
  });

  it("are read again after a change, of them or of all", async () => {
    const { directory, reads, tell } = remote();
    const { mirror } = open(directory);
    await see(mirror, reads, "a");
    await see(mirror, reads, "b");
    tell().customerChanged("a");
    await see(mirror, reads, "a", { tier: "pro" });
    expect(recordOf(mirror, "a")).toEqual({ tier: "pro" });
    expect(recordOf(mirror, "b")).toEqual({ tier: "free" });
    tell().customerChanged();
    await see(mirror, reads, "b", { tier: "pro" });
    expect(reads.map(({ id }) => id)).toEqual(["a", "b", "a", "b"]);
  });

  it.each([["of it", "c"] as const, ["of all", undefined] as const])(
    "a change %s during a read keeps the stale answer from staying",
    async (_, changed) => {
      const { directory, reads, tell } = remote();
      const { mirror } = open(directory);
      const before = recordOf(mirror, "c");
      tell().customerChanged(changed);
      const after = recordOf(mirror, "c");
      reads[1]?.answer({ tier: "new" });
      expect(await after).toEqual({ tier: "new" });
      reads[0]?.answer({ tier: "old" });
      expect(await before).toEqual({ tier: "old" });
      expect(recordOf(mirror, "c")).toEqual({ tier: "new" });
      expect(reads).toHaveLength(2);
    },
  );

  it("whose record ends by itself are read again then, though nobody says so", async () => {
    const { directory, reads } = remote();
    const { mirror, clock } = open(directory);
    const first = recordOf(mirror, "42");
    const until = clock() + 1000;
    reads[0]?.answer({ tier: "pro", until });
    expect(await first).toEqual({ tier: "pro", until });
    clock.advance(999);
    expect(recordOf(mirror, "42")).toEqual({ tier: "pro", until });
    clock.advance(1);
    const second = recordOf(mirror, "42");
    reads[1]?.answer();
    expect(await second).toBeUndefined();
    clock.advance("1d");
    expect(recordOf(mirror, "42")).toBeUndefined();
    expect(reads).toHaveLength(2);
  });

  it("whose record has ended and can not be read again stay as last known", async () => {
    const { directory, reads } = remote();
    const { mirror, clock } = open(directory);
    const first = recordOf(mirror, "42");
    reads[0]?.answer({ tier: "pro", until: clock() + 1000 });
    await first;
    clock.advance(1000);
    const second = recordOf(mirror, "42");
    reads[1]?.fail(new Error("gone"));
    expect(await second).toMatchObject({ tier: "pro" });
  });

  it("beyond the most to be kept the oldest are forgotten", async () => {
    const { directory, reads } = remote();
    const { mirror } = open(directory, { maxCustomers: 2 });
    for (const id of ["a", "b", "c"]) await see(mirror, reads, id);
    expect([recordOf(mirror, "b"), recordOf(mirror, "c")]).toEqual([{ tier: "free" }, { tier: "free" }]);
    expect(recordOf(mirror, "a")).toBeInstanceOf(Promise);
    expect(reads).toHaveLength(4);
  });

  it("a failed read answers nothing, is not remembered, and leaves the directory alone for a second", async () => {
    const { directory, reads } = remote();
    const { mirror, clock, warnings } = open(directory);
    const asked = recordOf(mirror, "c");
    reads[0]?.fail(new Error("down"));
    expect(await asked).toBeUndefined();
    clock.advance(999);
    for (let i = 0; i < 100; i++) expect(recordOf(mirror, `c${i}`)).toBeUndefined();
    expect(reads).toHaveLength(1);
    clock.advance(1);
    const probe = recordOf(mirror, "c");
    expect(recordOf(mirror, "d")).toBeUndefined();
    expect(reads).toHaveLength(2);
    reads[1]?.answer({ tier: "pro" });
    expect(await probe).toEqual({ tier: "pro" });
    expect(recordOf(mirror, "c")).toEqual({ tier: "pro" });
    expect(recordOf(mirror, "d")).toBeInstanceOf(Promise);
    expect(warnings.map(({ code }) => code)).toEqual(["TG_DIRECTORY_UNREACHABLE"]);
  });

  it("those known stay known while reads fail", async () => {
    const { directory, reads } = remote();
    const { mirror } = open(directory);
    await see(mirror, reads, "known");
    const asked = recordOf(mirror, "new");
    reads[1]?.fail(new Error("down"));
    await asked;
    expect(recordOf(mirror, "known")).toEqual({ tier: "free" });
  });

  it("a directory that throws at once is one that failed; a clock set back does not prolong the pause", () => {
    let calls = 0;
    const directory: Directory = {
      ...memoryDirectory(),
      customer: () => {
        calls++;
        throw new Error("broken");
      },
    };
    const { mirror, clock, warnings } = open(directory);
    expect([recordOf(mirror, "a"), recordOf(mirror, "b")]).toEqual([undefined, undefined]);
    expect(calls).toBe(1);
    clock.set(0);
    expect(recordOf(mirror, "a")).toBeUndefined();
    expect(calls).toBe(2);
    expect(warnings).toHaveLength(1);
  });

  it("a directory that hangs costs a first sight the deadline, and no more", async () => {
    const { directory, reads } = remote();
    const { mirror, warnings } = open(directory, { deadlineMs: 5 });
    expect(await recordOf(mirror, "c")).toBeUndefined();
    expect(recordOf(mirror, "c")).toBeUndefined();
    expect(reads).toHaveLength(1);
    expect(warnings[0]?.message).toContain("no answer within 5 ms");
  });

  it.each(["constructor", "__proto__", "a{b}", "\0", "a\nb"])("%j is an id like any other", async (id) => {
    const { directory, reads } = remote();
    const { mirror } = open(directory);
    await see(mirror, reads, id, { tier: "pro" });
    expect(recordOf(mirror, id)).toEqual({ tier: "pro" });
    expect(recordOf(mirror, "toString")).toBeInstanceOf(Promise);
  });

  it("ids of monstrous length are neither read nor kept", () => {
    const { directory, reads } = remote();
    const { mirror } = open(directory);
    expect(recordOf(mirror, "x".repeat(65_536))).toBeUndefined();
    expect(reads).toHaveLength(0);
  });
});

async function see(
  mirror: Mirror,
  reads: ReturnType<typeof remote>["reads"],
  id: string,
  record: CustomerRecord = { tier: "free" },
): Promise<void> {
  const asked = recordOf(mirror, id);
  reads.at(-1)?.answer(record);
  await asked;
}

function isReady(mirror: Mirror): Promise<boolean> {
  const later = new Promise<boolean>((resolve) => setImmediate(() => resolve(false)));
  return Promise.race([mirror.ready.then(() => true), later]);
}
