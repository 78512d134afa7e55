import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@redis/client";
import { createGate, memoryDirectory, TidegateError } from "tidegate";
import { subjectOf } from "tidegate/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { openEmbeddedData } from "../../packages/tidegate-server/src/data/embedded-data.js";
import { openRedisData } from "../../packages/tidegate-server/src/data/redis-data.js";
import type { Data } from "../../packages/tidegate-server/src/data.js";
import { BadText, type Kept, keep as keepWith } from "./policy-support.js";

const home = mkdtempSync(join(tmpdir(), "tidegate-policy-"));
let client: ReturnType<typeof createClient>;
let count = 0;
beforeAll(async () => {
  client = createClient({ socket: { port: inject("redisPort") }, commandOptions: { timeout: 0 } });
  await client.connect();
});
afterAll(() => {
  client.destroy();
  rmSync(home, { recursive: true, force: true });
});

const kinds = {
  embedded: () => openEmbeddedData(join(home, `data${++count}`)),
  redis: () => openRedisData({ client, prefix: `t:${crypto.randomUUID()}`, directory: memoryDirectory() }),
} as const;

describe.each(["embedded", "redis"] as const)("a policy kept in %s data", (kind) => {
  let data: Data;
  let path: string;
  const kept: Kept[] = [];
  beforeEach(async () => {
    data = await kinds[kind]();
    const dir = join(home, `files${++count}`);
    mkdirSync(dir);
    path = join(dir, "tidegate.yaml");
  });
  afterEach(async () => {
    for (const { keeper } of kept.splice(0)) await keeper.close();
    await data.close();
  });

  async function keep(given: Parameters<typeof keepWith>[1] = {}): Promise<Kept> {
    const opened = await keepWith(data, given);
    kept.push(opened);
    return opened;
  }
  const file = () => ({
    path,
    read: () => ({ text: readFileSync(path, "utf8") }),
    pollMs: 200,
    missingMs: 600,
  });
  const write = (text: string) => writeFileSync(path, text);
  const texts = async () => (await data.policies.list()).map(({ id, source, text }) => [id, source, text]);

  describe("at the start", () => {
    it("is the demo where there is neither version nor file, and no other demo later", async () => {
      const first = await keep({ demoText: "policy demo" });
      expect(first.inForce).toEqual(["demo"]);
      expect(first.keeper.status()).toMatchObject({ version: 1, source: "demo", who: "demo" });
      expect(await data.audit.list()).toMatchObject([{ what: "policy.demo", after: 1 }]);
      await first.keeper.close();
      const second = await keep({ demoText: "policy newer-demo" });
      expect(second.inForce).toEqual(["demo"]);
      expect(await texts()).toEqual([[1, "demo", "policy demo"]]);
    });

    it("is the file's, once: the same file adds no second version", async () => {
      write("policy a");
      const first = await keep({ file: file() });
      expect(first.inForce).toEqual(["a"]);
      expect(first.keeper.status()).toEqual({
        version: 1,
        at: expect.any(Number),
        who: "file",
        source: "file",
        file: { path, state: "in force" },
      });
      await first.keeper.close();
      const second = await keep({ file: file() });
      expect(second.inForce).toEqual(["a"]);
      expect(await texts()).toEqual([[1, "file", "policy a"]]);
    });

    it("is the file's if it changed meanwhile", async () => {
      write("policy a");
      await (await keep({ file: file() })).keeper.close();
      write("policy b");
      const { inForce, keeper } = await keep({ file: file(), who: "ann" });
      expect(inForce).toEqual(["b"]);
      expect(keeper.status()).toMatchObject({ version: 2, who: "ann", file: { state: "in force" } });
      expect(await data.audit.list({ most: 1 })).toMatchObject([
        { what: "policy.file", who: "ann", before: 1, after: 2 },
      ]);
    });

    it("fails with the file's fault where there is no version yet, and stores nothing", async () => {
      write("nonsense");
      await expect(keep({ file: file() })).rejects.toThrow(BadText);
      rmSync(path);
      await expect(keep({ file: file() })).rejects.toThrow(/ENOENT/);
      expect(await texts()).toEqual([]);
    });

    it("is the newest version where the file is bad, and the refusal is in status and log", async () => {
      write("policy a");
      await (await keep({ file: file() })).keeper.close();
      write("nonsense");
      const { inForce, keeper, lines } = await keep({ file: file() });
      expect(inForce).toEqual(["a"]);
      expect(keeper.status()).toMatchObject({
        version: 1,
        file: { path, state: "refused", problem: '"nonsense" is no policy.', problems: [{ line: 1 }] },
      });
      expect(lines).toContainEqual({
        level: "error",
        fields: { file: path, problems: [{ line: 1, message: "no such policy" }] },
        words: "the policy file is refused; the newest version rules",
      });
    });

    it("fails with a code where the newest version can not be put in force, unless a changed file can", async () => {
      await data.policies.add({ text: "from another world", who: "ann", source: "api" }, undefined);
      await expect(keep({ demoText: "policy demo" })).rejects.toMatchObject({ code: "TG_POLICY_UNUSABLE" });
      write("policy a");
      expect((await keep({ file: file() })).inForce).toEqual(["a"]);
    });

    it("waits for the first version where it has neither file nor demo, as in a worker", async () => {
      const worker = await keep();
      expect(worker.inForce).toEqual([]);
      expect(worker.keeper.status()).toMatchObject({
        version: 0,
        problem: "No policy version is stored yet.",
      });
      const { keeper } = await keep({ demoText: "policy demo" });
      await soon("the first version", () => worker.inForce.length > 0);
      expect(worker.keeper.status()).toEqual(keeper.status());
    });

    it("survives a rollback and a restart: an unchanged file is behind, a changed one is taken in", async () => {
      write("policy a");
      const first = await keep({ file: file() });
      write("policy b");
      await first.keeper.reload("ann");
      await first.keeper.rollback({ who: "ann", why: "b is too strict" });
      expect(first.inForce).toEqual(["a", "b", "a"]);
      expect(first.keeper.status().file?.state).toBe("behind");
      await first.keeper.close();
      const second = await keep({ file: file() });
      expect(second.inForce).toEqual(["a"]);
      expect(second.keeper.status()).toMatchObject({
        version: 3,
        source: "rollback",
        file: { state: "behind" },
      });
      const behind = () => second.lines.filter(({ words }) => words.startsWith("the policy file is behind"));
      expect(behind()).toMatchObject([{ level: "warn", fields: { file: path, version: 3, who: "ann" } }]);
      await second.keeper.reload("ann");
      expect(behind()).toHaveLength(2);
      write("policy c");
      await second.keeper.reload("ann");
      expect(second.inForce).toEqual(["a", "c"]);
      expect(second.keeper.status()).toMatchObject({ version: 4, file: { state: "in force" } });
      expect(behind()).toHaveLength(2);
    });
  });

  describe("a file that changes", () => {
    it("is taken in by itself, whether written over or replaced", async () => {
      write("policy a");
      const { inForce } = await keep({ file: file() });
      write("policy b");
      await soon("the text written over", () => inForce.at(-1) === "b");
      writeFileSync(`${path}.new`, "policy c");
      renameSync(`${path}.new`, path);
      await soon("the replacement", () => inForce.at(-1) === "c");
      write("policy d");
      await soon("the replacement written over", () => inForce.at(-1) === "d");
      expect(inForce).toEqual(["a", "b", "c", "d"]);
    });

    it("is taken in when the link it hangs on is swapped, as Kubernetes does", async () => {
      const dir = join(home, `mount${++count}`);
      for (const [name, text] of [
        ["..1", "policy a"],
        ["..2", "policy b"],
      ] as const) {
        mkdirSync(join(dir, name), { recursive: true });
        writeFileSync(join(dir, name, "tidegate.yaml"), text);
      }
      symlinkSync("..1", join(dir, "..data"));
      path = join(dir, "tidegate.yaml");
      symlinkSync(join("..data", "tidegate.yaml"), path);
      const { inForce } = await keep({ file: file() });
      symlinkSync("..2", join(dir, "..data_tmp"));
      renameSync(join(dir, "..data_tmp"), join(dir, "..data"));
      rmSync(join(dir, "..1"), { recursive: true });
      await soon("the other file", () => inForce.at(-1) === "b");
    });

    it("is refused when bad: the old policy stays until it is good again", async () => {
      write("policy a");
      const { inForce, keeper, lines } = await keep({ file: file() });
      write("nonsense");
      await soon("the refusal", () => keeper.status().file?.state === "refused");
      expect(lines.filter(({ level }) => level === "error")).toHaveLength(1);
      expect(keeper.status()).toMatchObject({ version: 1, file: { problems: [{ line: 1 }] } });
      write("policy a");
      await soon("the good file", () => keeper.status().file?.state === "in force");
      write("policy b");
      await soon("a better one", () => inForce.at(-1) === "b");
      expect(inForce).toEqual(["a", "b"]);
      expect(words(lines).filter((each) => each === "the policy file can be used again")).toHaveLength(1);
    });

    it("may be missing for a moment; one that stays away is reported once", async () => {
      write("policy a");
      const { inForce, keeper, lines } = await keep({ file: file() });
      const errors = () => lines.filter(({ level }) => level === "error").length;
      rmSync(path);
      await sleep(300);
      expect(errors()).toBe(0);
      write("policy b");
      await soon("the new file", () => inForce.at(-1) === "b");
      expect(errors()).toBe(0);
      rmSync(path);
      await soon("the report", () => keeper.status().file?.state === "refused");
      await sleep(500);
      expect(errors()).toBe(1);
      expect(keeper.status()).toMatchObject({
        version: 2,
        file: { problem: expect.stringContaining("ENOENT") },
      });
    });

    it("that can not be read for a moment is read again, though nobody changes it", async () => {
      write("policy a");
      let isReadable = true;
      const read = () => {
        if (isReadable) return file().read();
        throw new TidegateError("TG_CONFIG_READ", "It can not be read (EMFILE).", "Look at the path.");
      };
      const { inForce, keeper, lines } = await keep({ file: { ...file(), read, pollMs: 60_000 } });
      isReadable = false;
      write("policy b");
      await keeper.reload("SIGHUP");
      expect(keeper.status()).toMatchObject({ version: 1, file: { state: "refused" } });
      await sleep(1_500);
      isReadable = true;
      await soon("the file", () => inForce.at(-1) === "b");
      expect(keeper.status()).toMatchObject({ version: 2, file: { state: "in force" } });
      expect(
        words(lines).filter((each) => each.startsWith("the policy file is refused")).length,
      ).toBeLessThan(3);
    });

    it("is read again when asked, with who asked in the audit", async () => {
      write("policy a");
      const { keeper } = await keep({ file: { ...file(), pollMs: 60_000 } });
      write("policy b");
      await keeper.reload("SIGHUP");
      await keeper.reload("SIGHUP");
      expect(keeper.status()).toMatchObject({ version: 2, who: "SIGHUP" });
      expect(await texts()).toHaveLength(2);
    });

    it("with the text that is in force already counts as taken in, so that a later rollback stays", async () => {
      write("policy a");
      const first = await keep({ file: file() });
      await first.keeper.takeIn("policy b", { who: "ann" });
      write("policy b");
      await first.keeper.reload("ann");
      await first.keeper.rollback({ who: "ann" });
      expect(first.inForce.at(-1)).toBe("a");
      await first.keeper.close();
      expect((await keep({ file: file() })).inForce).toEqual(["a"]);
    });
  });

  describe("a text taken in", () => {
    it("is in force and kept, with who, why, and what was before", async () => {
      const { inForce, keeper } = await keep({ demoText: "policy demo" });
      const version = await keeper.takeIn("policy a", { who: "ann", why: "busy week", after: 1 });
      expect(version).toMatchObject({ id: 2, source: "api", who: "ann", why: "busy week" });
      expect(inForce).toEqual(["demo", "a"]);
      expect(await data.policies.newest()).toEqual(version);
      expect(await data.audit.list({ most: 1 })).toMatchObject([
        { what: "policy.api", who: "ann", why: "busy week", before: 1, after: 2 },
      ]);
    });

    it("that is bad changes nothing, and leaves no trace", async () => {
      const { inForce, keeper } = await keep({ demoText: "policy demo" });
      await expect(keeper.takeIn("nonsense", { who: "ann" })).rejects.toThrow(BadText);
      expect(inForce).toEqual(["demo"]);
      expect(await texts()).toHaveLength(1);
      expect(await data.audit.list()).toHaveLength(1);
    });

    it("made after an older version than the newest is a conflict", async () => {
      const { inForce, keeper } = await keep({ demoText: "policy demo" });
      await keeper.takeIn("policy a", { who: "ann", after: 1 });
      for (const after of [0, 1, 3]) {
        const outcome = keeper.takeIn("policy b", { who: "bob", after });
        await expect(outcome).rejects.toMatchObject({
          code: "TG_POLICY_CONFLICT",
          message: expect.stringContaining("version 2 is the newest"),
        });
      }
      expect(inForce).toEqual(["demo", "a"]);
      await keeper.takeIn("policy b", { who: "bob" });
      expect(inForce).toEqual(["demo", "a", "b"]);
    });

    it("one of many at once after the same version wins; the others are conflicts", async () => {
      const { keeper } = await keep({ demoText: "policy demo" });
      const outcomes = await Promise.allSettled(
        ["a", "b", "c", "d"].map((name) => keeper.takeIn(`policy ${name}`, { who: "ann", after: 1 })),
      );
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual([
        "fulfilled",
        "rejected",
        "rejected",
        "rejected",
      ]);
    });

    it("rules a real gate from the next request on", async () => {
      const gate = createGate({ rules: [], onWarning() {} });
      const { keeper } = await keep({ demoText: "policy demo", apply: (policy) => gate.update(policy) });
      const decision = await gate.decide(subjectOf("192.0.2.1"));
      expect(decision.verdicts.map(({ rule }) => rule)).toEqual(["demo"]);
      await keeper.takeIn("policy other", { who: "ann" });
      const next = await gate.decide(subjectOf("192.0.2.1"));
      expect(next.verdicts.map(({ rule }) => rule)).toEqual(["other"]);
      await gate.close();
    });
  });

  describe("a rollback", () => {
    async function withVersions(...names: string[]): Promise<Kept> {
      const opened = await keep({ demoText: `policy ${names[0]}` });
      for (const name of names.slice(1)) await opened.keeper.takeIn(`policy ${name}`, { who: "ann" });
      return opened;
    }

    it("brings back what was in force before, as a new version; two go back two steps", async () => {
      const { inForce, keeper } = await withVersions("a", "b", "c");
      const version = await keeper.rollback({ who: "bob", why: "too strict" });
      expect(version).toMatchObject({
        id: 4,
        source: "rollback",
        text: "policy b",
        who: "bob",
        why: "too strict",
      });
      expect(await data.audit.list({ most: 1 })).toMatchObject([
        { what: "policy.rollback", who: "bob", before: 3, after: 4 },
      ]);
      await keeper.rollback({ who: "bob" });
      expect(inForce).toEqual(["a", "b", "c", "b", "a"]);
      await expect(keeper.rollback({ who: "bob" })).rejects.toMatchObject({ code: "TG_POLICY_VERSION" });
      expect(inForce).toHaveLength(5);
    });

    it("goes to the version named, forth as well as back", async () => {
      const { inForce, keeper } = await withVersions("a", "b", "c");
      await keeper.rollback({ to: 1, who: "bob" });
      await keeper.rollback({ to: 3, who: "bob" });
      expect(inForce.slice(3)).toEqual(["a", "c"]);
      await keeper.rollback({ who: "bob" });
      expect(inForce.at(-1)).toBe("b");
    });

    it("skips versions of the same text", async () => {
      const { inForce, keeper } = await withVersions("a", "b", "b", "b");
      await keeper.rollback({ who: "bob" });
      expect(inForce.at(-1)).toBe("a");
    });

    it("of a text written again by hand goes to the text between", async () => {
      const { inForce, keeper } = await withVersions("a", "b", "a");
      await keeper.rollback({ who: "bob" });
      expect(inForce.at(-1)).toBe("b");
    });

    it("to the text in force adds nothing; to none there is throws", async () => {
      const { keeper } = await withVersions("a", "b");
      expect(await keeper.rollback({ to: 2, who: "bob" })).toMatchObject({ id: 2 });
      for (const to of [0, 9, -1, 1.5, Number.NaN]) {
        await expect(keeper.rollback({ to, who: "bob" })).rejects.toMatchObject({
          code: "TG_POLICY_VERSION",
        });
      }
      expect(await texts()).toHaveLength(2);
    });

    it("to a text that can no longer be used changes nothing", async () => {
      await data.policies.add({ text: "from another world", who: "ann", source: "api" }, undefined);
      await data.policies.add({ text: "policy a", who: "ann", source: "api" }, 1);
      const { inForce, keeper } = await keep();
      await expect(keeper.rollback({ who: "bob" })).rejects.toThrow(BadText);
      expect(inForce).toEqual(["a"]);
      expect(keeper.status()).toMatchObject({ version: 2 });
    });

    it("without any version says so", async () => {
      const { keeper } = await keep();
      await expect(keeper.rollback({ who: "bob" })).rejects.toMatchObject({ code: "TG_POLICY_VERSION" });
    });
  });

  it("that can not be put in force after all leaves the old one, and says so", async () => {
    const inForce: string[] = [];
    const { keeper, lines } = await keep({
      demoText: "policy demo",
      apply(_, { text }) {
        if (text === "policy a") throw new Error("the store does not keep this");
        inForce.push(text);
      },
    });
    await expect(keeper.takeIn("policy a", { who: "ann" })).rejects.toThrow("the store does not keep this");
    expect(inForce).toEqual(["policy demo"]);
    expect(keeper.status()).toMatchObject({
      version: 1,
      problem: "Version 2 can not be put in force: the store does not keep this",
    });
    expect(lines).toContainEqual({
      level: "error",
      fields: { version: 2, err: expect.any(Error) },
      words: "a policy version can not be put in force; the old one stays",
    });
    await keeper.takeIn("policy b", { who: "ann" });
    expect(keeper.status()).toMatchObject({ version: 3 });
    expect(keeper.status().problem).toBeUndefined();
  });

  it("is kept when the audit fails", async () => {
    const { keeper, lines } = await keepWith(
      {
        policies: data.policies,
        audit: { add: () => Promise.reject(new Error("full")), list: async () => [] },
      },
      { demoText: "policy demo" },
    );
    expect(keeper.status()).toMatchObject({ version: 1 });
    expect(words(lines)).toContain("audit entry could not be kept");
    await keeper.close();
  });

  it("is left alone once closed", async () => {
    write("policy a");
    const { inForce, keeper } = await keep({ file: file() });
    await keeper.close();
    await keeper.close();
    write("policy b");
    await data.policies.add({ text: "policy c", who: "ann", source: "api" }, 1);
    await sleep(800);
    expect(inForce).toEqual(["a"]);
  });
});

function words(lines: Kept["lines"]): string[] {
  return lines.map((line) => line.words);
}

/** Files are watched with a pause for the writer to finish; 5 s is for a machine that has much else to do. */
async function soon(what: string, holds: () => boolean): Promise<void> {
  for (const until = Date.now() + 5_000; !holds(); await sleep(10)) {
    if (Date.now() > until) throw new Error(`waited 5 s for ${what}`);
  }
}
