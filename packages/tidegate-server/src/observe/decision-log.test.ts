import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Registry } from "prom-client";
import { createGate, type Decision, type Gate } from "tidegate";
import { subjectOf } from "tidegate/testing";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import type { Log } from "../log.js";
import { type DecisionLog, openDecisionLog } from "./decision-log.js";

const home = mkdtempSync(join(tmpdir(), "tidegate-decisions-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const gates: Gate[] = [];
const logs: DecisionLog[] = [];
afterEach(async () => {
  for (const log of logs.splice(0)) await log.close();
  for (const gate of gates.splice(0)) await gate.close();
});

let folders = 0;
const newFile = (): string => join(home, `f${++folders}`, "decisions.jsonl");
const patiently = { timeout: 10_000, interval: 20 };

interface Terms {
  readonly file?: string;
  readonly which?: "refused" | "all";
  readonly maxBytes?: number;
  readonly files?: number;
  readonly worker?: number;
}

function opened(terms: Terms = {}) {
  const { file = newFile(), which = "all", maxBytes = 1_000_000, files = 2, worker } = terms;
  const said: { level: string; fields: unknown }[] = [];
  const say = (level: string) => (fields: unknown) => void said.push({ level, fields });
  const log = {
    ...{ trace() {}, debug() {}, info() {} },
    ...{ warn: say("warn"), error: say("error") },
  } as unknown as Log;
  const registry = new Registry();
  const decisions = openDecisionLog({
    settings: { file, which, maxBytes, files },
    log,
    registry,
    ...(worker !== undefined && { worker }),
  });
  logs.push(decisions);
  const count = async (outcome: string): Promise<number> => {
    const lines = await registry.metrics();
    return Number(new RegExp(`outcome="${outcome}"} (\\d+)`).exec(lines)?.[1]);
  };
  return { decisions, file, said, count };
}

function linesOf(file: string): Record<string, unknown>[] {
  const text = readFileSync(file, "utf8");
  expect(text === "" || text.endsWith("\n")).toBe(true);
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

function gate(): Gate {
  const rules = [
    { name: "req/ip", by: "ip", limits: ["1 per hour"], hold: { after: 2, for: "1m" } },
  ] as const;
  const made = createGate({ rules, blocklist: ["192.0.2.0/24"], onWarning: () => {} });
  gates.push(made);
  return made;
}

const plain = { id: "x", allowed: true, reason: "no-rule", verdicts: [], source: "store", delayedMs: 0 };
const aDecision = plain as unknown as Decision;

describe("the decision log", () => {
  it("tells of each decision: who by digest, what, why, with which counts, and whether held", async () => {
    const { decisions, file } = opened();
    const judge = gate();
    const ids: string[] = [];
    const subject = subjectOf("203.0.113.7", {
      method: "POST",
      host: "example.com",
      path: "/login?token=hush",
      headers: { "user-agent": "curl/8", authorization: "Bearer hush", cookie: "session=hush" },
    });
    for (let i = 0; i < 4; i++) {
      const decision = await judge.decide(subject);
      ids.push(decision.id);
      decisions.decision(subject, decision);
    }
    const blocked = subjectOf("192.0.2.1");
    decisions.decision(blocked, await judge.decide(blocked));
    await decisions.close();
    const text = readFileSync(file, "utf8");
    for (const secret of ["hush", "203.0.113.7", "Bearer"]) expect(text).not.toContain(secret);
    const lines = linesOf(file);
    const common = {
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      kind: "decision",
      client: expect.stringMatching(/^[0-9a-f]{64}$/),
      address: expect.stringMatching(/^[0-9a-f]{64}$/),
    };
    const counts = { limit: 1, windowMs: 3_600_000, remaining: 0, retryAfterMs: expect.any(Number) };
    const request = { method: "POST", host: "example.com", path: "/login", userAgent: "curl/8" };
    const told = { ...common, ...request, rule: "req/ip", level: "req/ip/3600", counts };
    const heldUntil = expect.stringMatching(/Z$/);
    expect(lines.slice(0, 4)).toEqual([
      { ...told, id: ids[0], allowed: true, reason: "within-limits" },
      { ...told, id: ids[1], allowed: false, reason: "over-limit" },
      { ...told, id: ids[2], allowed: false, reason: "over-limit", heldUntil, crossed: true },
      { ...told, id: ids[3], allowed: false, reason: "held", heldUntil },
    ]);
    expect(lines[4]).toMatchObject({
      ...common,
      allowed: false,
      reason: "blocklist",
      listed: "192.0.2.0/24",
    });
    expect(new Set(lines.slice(0, 4).map(({ client }) => client)).size).toBe(1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("of refusals only leaves out who was let in", async () => {
    const { decisions, file } = opened({ which: "refused" });
    decisions.decision(subjectOf("203.0.113.7"), aDecision);
    decisions.decision(subjectOf("203.0.113.7"), { ...aDecision, allowed: false, reason: "blocklist" });
    await decisions.close();
    expect(linesOf(file)).toMatchObject([{ reason: "blocklist" }]);
  });

  it("gives one line each for whatever a client wrote, and each can be read back", async () => {
    const { decisions, file } = opened();
    const hostile = [
      "\n",
      '"}\n{"allowed":true}',
      "\u2028\u2029",
      "\0\x1b[31m",
      "\ud800",
      "\\",
      "é".repeat(5_000),
    ];
    for (const text of hostile) {
      const headers = { "user-agent": text };
      decisions.decision(subjectOf(text, { method: text, host: text, path: text, headers }), aDecision);
      decisions.control({ edge: text, [text]: text, token: "hush", at: "forged", kind: "decision" });
    }
    await decisions.close();
    const lines = linesOf(file);
    expect(lines).toHaveLength(2 * hostile.length);
    expect(lines[2]).toMatchObject({ host: hostile[1], path: hostile[1], userAgent: hostile[1] });
    for (const { userAgent = "", path = "", kind, at } of lines) {
      expect(String(userAgent).length).toBeLessThanOrEqual(200);
      expect(String(path).length).toBeLessThanOrEqual(1_000);
      expect(at).not.toBe("forged");
      expect(["decision", "control"]).toContain(kind);
    }
    const text = readFileSync(file, "latin1");
    expect(text).not.toContain("hush");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: their absence is the point
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  });

  it("tells who is held for the edges by the key they know, with times as everywhere and the address of its decisions", async () => {
    const { decisions, file } = opened();
    const [crossedAt, until] = [Date.UTC(2026, 0, 1, 12), Date.UTC(2026, 0, 1, 13)];
    const offender = { rule: "flood", crossedAt, until, score: 2, leaked: 3, edges: ["front"] };
    decisions.decision(subjectOf("203.0.113.7"), aDecision);
    decisions.held({ ...offender, key: "203.0.113.7", about: { ip: "203.0.113.7", path: "/hush" } });
    decisions.held({ ...offender, key: "a".repeat(64), edges: [], about: {} });
    await decisions.close();
    const [decision, ...held] = linesOf(file);
    const common = {
      at: expect.stringMatching(/Z$/),
      kind: "control",
      event: "held",
      rule: "flood",
      crossedAt: "2026-01-01T12:00:00.000Z",
      heldUntil: "2026-01-01T13:00:00.000Z",
      score: 2,
      leaked: 3,
    };
    expect(held).toEqual([
      { ...common, client: "203.0.113.7", address: decision?.address, edges: ["front"] },
      { ...common, client: "a".repeat(64) },
    ]);
  });

  it("tells what control did", async () => {
    const { decisions, file } = opened({ which: "refused" });
    decisions.control({ event: "mode", edge: "front", mode: "off", who: "ann" });
    await decisions.close();
    expect(linesOf(file)).toMatchObject([{ kind: "control", event: "mode", edge: "front", mode: "off" }]);
  });

  it("begins a new file when one is full, keeps so many, and tears no line", async () => {
    const { decisions, file } = opened({ maxBytes: 4_000, files: 3 });
    for (let i = 0; i < 400; i++) decisions.control({ i });
    await decisions.close();
    const names = readdirSync(dirname(file)).toSorted();
    expect(names).toEqual([0, 1, 2, 3].map((i) => `decisions.jsonl${i === 0 ? "" : `.${i}`}`));
    const kept = names.toReversed().flatMap((name) => linesOf(join(dirname(file), name)).map(({ i }) => i));
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, i) => 400 - kept.length + i));
    for (const name of names) expect(statSync(join(dirname(file), name)).size).toBeLessThanOrEqual(4_000);
  });

  it("goes on where an earlier process ended, even in the middle of a line, and is full with what that one wrote", async () => {
    const file = newFile();
    mkdirSync(dirname(file));
    writeFileSync(file, '{"i":"earlier"}\n{"half":');
    const { decisions } = opened({ file, maxBytes: 150, files: 1 });
    decisions.control({ i: 1 });
    await decisions.close();
    expect(readFileSync(file, "utf8").split("\n")).toMatchObject([
      '{"i":"earlier"}',
      '{"half":',
      expect.stringContaining('"i":1'),
      "",
    ]);
    const { decisions: next } = opened({ file, maxBytes: 150, files: 1 });
    next.control({ i: 2, x: "x".repeat(100) });
    await next.close();
    expect(linesOf(file)).toMatchObject([{ i: 2 }]);
    expect(readFileSync(`${file}.1`, "utf8")).toContain('"i":1');
  });

  it("is written within a second, without anybody closing it", async () => {
    const { decisions, file } = opened();
    decisions.control({ i: 1 });
    await vi.waitFor(() => expect(linesOf(file)).toHaveLength(1), patiently);
  });

  it("is begun anew when its file, or the whole folder, was moved or removed", async () => {
    const { decisions, file, said } = opened();
    decisions.control({ i: 1 });
    await vi.waitFor(() => expect(linesOf(file)).toHaveLength(1), patiently);
    renameSync(file, `${file}.moved`);
    decisions.control({ i: 2 });
    await vi.waitFor(() => expect(existsSync(file) && linesOf(file)).toMatchObject([{ i: 2 }]), patiently);
    rmSync(dirname(file), { recursive: true });
    decisions.control({ i: 3 });
    await vi.waitFor(() => expect(existsSync(file) && linesOf(file)).toMatchObject([{ i: 3 }]), patiently);
    expect(said).toEqual([]);
  });

  it("of a worker is a file of its own", async () => {
    const { decisions, file } = opened({ worker: 2 });
    decisions.control({ i: 1 });
    await decisions.close();
    expect(readdirSync(dirname(file))).toEqual(["decisions-2.jsonl"]);
  });
});

describe("a decision log that can not be written", () => {
  it("is told once, throws at nobody, counts what is dropped, and goes on when it can be written again", async () => {
    const file = newFile();
    mkdirSync(dirname(file));
    // A folder where the file should be: nobody may write there, not even root.
    mkdirSync(file);
    const { decisions, said, count } = opened({ file });
    for (let i = 0; i < 3; i++) {
      decisions.control({ i });
      await vi.waitFor(async () => expect(await count("dropped")).toBe(i + 1), patiently);
    }
    expect(said).toMatchObject([{ level: "error", fields: { err: { code: "TG_DECISION_LOG" } } }]);
    rmSync(file, { recursive: true });
    decisions.control({ i: "again" });
    await vi.waitFor(async () => expect(await count("written")).toBe(1), patiently);
    expect(linesOf(file)).toMatchObject([{ i: "again" }]);
    await vi.waitFor(
      () => expect(said).toMatchObject([{}, { level: "warn", fields: { dropped: 3 } }]),
      patiently,
    );
  });

  it("because the disk is full, drops, and is told once", async () => {
    const file = newFile();
    mkdirSync(dirname(file));
    chmodSync(dirname(file), 0o700);
    // Linux's device that is always full.
    symlinkSync("/dev/full", file);
    const { decisions, said, count } = opened({ file });
    for (let i = 0; i < 5; i++) decisions.control({ i });
    await decisions.close();
    expect(await count("dropped")).toBe(5);
    expect(said).toHaveLength(1);
  });

  it("keeps no more waiting than it may", async () => {
    const { decisions, count, file } = opened({ maxBytes: 100_000_000 });
    const line = { x: Array.from({ length: 10 }, () => "x".repeat(1_000)) };
    for (let i = 0; i < 2_000; i++) decisions.control(line);
    const dropped = await count("dropped");
    expect(dropped).toBeGreaterThan(0);
    await decisions.close();
    expect((await count("written")) + dropped).toBe(2_000);
    expect(linesOf(file)).toHaveLength(2_000 - dropped);
  });

  it("takes nothing more once it is closed", async () => {
    const { decisions, file } = opened();
    decisions.control({ i: 1 });
    await decisions.close();
    decisions.control({ i: 2 });
    await decisions.close();
    expect(linesOf(file)).toHaveLength(1);
  });
});
