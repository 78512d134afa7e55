import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Secret } from "../secret.js";
import { humanLine } from "./human-line.js";
import { openLog } from "./open-log.js";

function logged(level: "trace" | "info" | "silent" = "trace") {
  const lines: string[] = [];
  return { lines, log: openLog({ level }, { write: (line) => void lines.push(line) }) };
}

const hostile = "\r\n\u0000\u001b[2J\u007f\u009b31m\u2028\u2029\u202e\u2066\u200f\ufeff\u{e0041}\ud800";
const dangerous = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

function soleLine(lines: readonly string[]): string {
  expect(lines).toHaveLength(1);
  const [line] = lines as [string];
  expect(line.endsWith("\n")).toBe(true);
  expect(line.slice(0, -1)).not.toMatch(dangerous);
  return line;
}

describe("a line", () => {
  it("is JSON with an ISO time, the level by name, and the words", () => {
    const { lines, log } = logged();
    log.info({ upstream: "a" }, "words");
    expect(JSON.parse(soleLine(lines))).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      upstream: "a",
      msg: "words",
    });
  });

  it("below the level is none", () => {
    const { lines, log } = logged("silent");
    log.error("x");
    expect(lines).toEqual([]);
  });

  it("can not be forged or garbled by what a client sent, wherever it stands", () => {
    const ways: ((log: ReturnType<typeof openLog>) => void)[] = [
      (log) => log.info({ path: hostile }, "x"),
      (log) => log.info({ headers: { [hostile]: hostile, list: [hostile] } }, "x"),
      (log) => log.info(hostile),
      (log) => log.info({ a: 1 }, `x ${hostile}`),
      (log) => log.info("x %s", hostile),
      (log) => log.info({ a: 1 }, "x %j", { hostile }),
      (log) => log.error(new Error(hostile)),
      (log) => log.error({ err: new Error(hostile, { cause: new Error(hostile) }) }),
      (log) => log.child({ who: hostile }).info("x"),
      (log) => log.info({ when: { toJSON: () => hostile } }, "x"),
    ];
    for (const way of ways) {
      const { lines, log } = logged();
      way(log);
      JSON.parse(soleLine(lines));
    }
  });

  it("stays printable after its JSON was read", () => {
    const { lines, log } = logged();
    log.info({ path: hostile }, "x");
    const { path } = JSON.parse(soleLine(lines)) as { path: string };
    expect(path).not.toMatch(dangerous);
    expect(path).toContain("\\u001b[2J");
  });

  it("is not contradicted by fields of a client's choosing", () => {
    const { lines, log } = logged();
    log.info({ level: "fatal", time: "1970", msg: "all is well", __proto__: { x: 1 } }, "x");
    expect(JSON.parse(soleLine(lines))).toMatchObject({
      level: "info",
      msg: "x",
      _level: "fatal",
      _msg: "all is well",
    });
  });

  it("stays short, however much it is given", () => {
    const deep: Record<string, unknown> = {};
    let at = deep;
    for (let i = 0; i < 10_000; i++) at = at.d = {} as Record<string, unknown>;
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`f${i}`, "x".repeat(5000)]));
    const circle: Record<string, unknown> = {};
    circle.circle = circle;
    for (const value of [
      "x".repeat(1e6),
      deep,
      wide,
      circle,
      Array(1e6).fill("y"),
      new Map(Object.entries(wide)),
      Buffer.alloc(1e6),
    ]) {
      const { lines, log } = logged();
      log.info({ value }, "x");
      expect(soleLine(lines).length).toBeLessThan(100_000);
      JSON.parse(lines[0] as string);
    }
  });

  it("says how long a text was", () => {
    const { lines, log } = logged();
    log.info({ path: "x".repeat(5000) }, "x");
    expect(JSON.parse(soleLine(lines)).path).toBe(`${"x".repeat(1024)}… (5000)`);
  });

  it("holds any value, and never throws", () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withMap: true,
          withSet: true,
          withNullPrototype: true,
          withDate: true,
          withTypedArray: true,
        }),
        fc.string({ unit: "binary" }),
        (value, text) => {
          const { lines, log } = logged();
          log.info({ value, [text]: text }, text);
          JSON.parse(soleLine(lines));
        },
      ),
      { numRuns: 300 },
    );
    const { lines, log } = logged();
    log.info(
      {
        value: {
          get bad() {
            throw new Error("no");
          },
        },
      },
      "x",
    );
    expect(JSON.parse(soleLine(lines)).value).toEqual({ bad: "[unreadable]" });
  });
});

describe("a secret", () => {
  it.each([
    ["a Secret", { settings: { url: new Secret("hush") } }],
    ["a list of them", { all: [new Secret("hush")] }],
    ["authorization", { headers: { authorization: "Bearer hush" } }],
    ["in another case", { headers: { "Proxy-Authorization": "hush" } }],
    ["a cookie", { headers: { cookie: "a=hush", "set-cookie": ["b=hush"] } }],
    ["a password", { db: { password: "hush", dbPassword: "hush" } }],
    ["a token", { token: "hush", accessToken: { value: "hush" } }],
    ["an API key", { "x-api-key": "hush" }],
    ["in a URL", { url: "redis://user:hush@example.com/0" }],
    ["in a URL with odd signs", { url: "redis://:hu@hush@example.com/0" }],
    ["in a query", { url: "/x?a=1&access_token=hush&b=2" }],
    ["in a header's text", { text: "Authorization: Bearer hush" }],
    [
      "in an error",
      { err: new Error("connect redis://u:hush@h failed", { cause: new Error("Bearer hush") }) },
    ],
    ["at the end of a long URL", { url: `redis://${"u".repeat(1020)}:hush@h` }],
  ])("%s is never shown", (_, fields) => {
    const { lines, log } = logged();
    log.info(fields, "x");
    expect(soleLine(lines)).not.toContain("hush");
    expect(lines[0]).toContain("[secret]");
  });

  it("is not shown in the words either", () => {
    const { lines, log } = logged();
    log.error(new Error("connect redis://u:hush@h failed"));
    log.info("redis://u:hush@h");
    log.child({ token: "hush", url: "redis://u:hush@h" }).info("x");
    expect(lines.join("")).not.toContain("hush");
  });

  it("that is a number or a yes is no secret", () => {
    const { lines, log } = logged();
    log.info({ hasToken: true, tokens: 3 }, "x");
    expect(JSON.parse(soleLine(lines))).toMatchObject({ hasToken: true, tokens: 3 });
  });
});

describe("on a terminal", () => {
  function human(fields: object, words = "words"): string {
    const { lines, log } = logged();
    log.warn(fields, words);
    return humanLine(soleLine(lines));
  }
  const bare = (text: string): string =>
    text
      .split("\u001b")
      .map((part, i) => (i === 0 ? part : part.replace(/^\[\d*m/, "")))
      .join("");

  it("a line is time, level, words and fields", () => {
    expect(bare(human({ path: "/a b", n: 1, o: { x: "y" } }))).toMatch(
      /^\d\d:\d\d:\d\d WARN {2}words path="\/a b" n=1 o=\{"x":"y"\}\n$/,
    );
  });

  it("a client can neither break the line nor colour it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const line = bare(human({ path: `${text}${hostile}`, [text]: text }, `x${text}`));
        expect(line.slice(0, -1)).not.toMatch(dangerous);
      }),
    );
  });

  it("what is wrong in a file follows, a line each, and no stack", () => {
    const problems = [
      { code: "TG_BY", line: 4, column: 7, path: "rules[0].by", message: "Odd.", help: "Write ip." },
      { code: "TG_X", path: "", message: `Two\n${hostile}` },
      "three",
    ];
    const text = bare(human({ problems, file: "a.yaml" }));
    expect(text).toMatch(
      /problems=3 file=a\.yaml\n {4}line 4:7 rules\[0\]\.by: Odd\. Write ip\. \[TG_BY\]\n {4}Two/,
    );
    expect(text.split("\n")).toHaveLength(5);
    expect(text.replaceAll("\n", "")).not.toMatch(dangerous);
  });

  it("an error's stack follows, line by line", () => {
    const text = bare(human({ err: new Error("broken") }));
    expect(text).toMatch(/err="broken"\n {4}at /);
  });
});
