import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConfigFileError } from "./config-file-error.js";
import { loadText } from "./load-config.js";
import { parsePolicy } from "./parse-policy.js";

const valid = `
listen: { proxy: 127.0.0.1:8080, admin: 127.0.0.1:8088 }
upstreams:
  - url: http://127.0.0.1:3000   # the app
    host: api.example.com
    health: { path: /healthz, every: 5s }
trustedProxies: [10.0.0.0/8, loopback]
identify: { customer: X-Customer-Id, account: { field: email } }
store: { kind: redis, url: "\${REDIS_URL:-redis://127.0.0.1}", prefix: tg }
decide: { peers: [127.0.0.1], token: "\${TOKEN}", canFinish: true }
failure: { deadline: 100ms, breaker: { failures: 5, pause: 1s } }
policy:
  # by address
  rules:
    - { name: req/ip, by: ip, limits: [300 per 5m, 600 per 30m], hold: { after: 100, for: [1m, 5m] } }
    - name: search
      only: /search
      by: [ip, "header:x-tenant"]
      limits:
        - earrrl: { rate: 30 per minute, halfLife: 1m }
        - tokenBucket: { rate: 10 per second, burst: 20 }
    - { name: levels, by: ip, limits: { backoff: { levels: 5, limit: 20, base: 8 } } }
    - login: { only: POST /login }
  tiers: { free: &free [100 per hour], pro: [100 per minute], same: *free }
  defaultTier: free
  safelist: [10.0.0.0/8]
workers: 1
`;

const env = { TOKEN: "not-to-be-shown-0123456789" };

/** Whatever is given is read, or refused by the one error there is for that, which shows nothing of the environment. */
function survives(text: string | Uint8Array): void {
  try {
    const { policyText } = loadText(text, { env });
    // What was taken can be taken again.
    parsePolicy(policyText);
  } catch (error) {
    if (!(error instanceof ConfigFileError)) throw error;
    expect(error.problems.length).toBeGreaterThan(0);
    expect(error.message).not.toContain(env.TOKEN);
    for (const { code, message, help } of error.problems) {
      expect(code).toMatch(/^TG_[A-Z_]+$/);
      expect([message, help].every((words) => words.length > 3)).toBe(true);
    }
  }
}

const scraps = [
  ..."[]{},:?-#&*!|>'\"%@`~<=\n\t $",
  "\n  ",
  "\n    - ",
  ": ",
  "- ",
  "---\n",
  "...\n",
  "*free",
  "&free",
  "<<",
  "!!binary ",
  `\${TOKEN}`,
  `\${`,
  "__proto__",
  "constructor",
  "null",
  "1e999",
  "-0",
  "0x7f",
  ".nan",
  "policy",
  "rules",
  "limits",
  "login",
  "tier",
  "\u0000",
  "\ufeff",
  "\ud800",
  "\u202e",
  "\r",
];

const edit = fc.record({
  at: fc.nat(valid.length),
  drop: fc.nat(12),
  put: fc.oneof(fc.constantFrom(...scraps), fc.string({ unit: "grapheme", maxLength: 6 }), fc.constant("")),
});

const word = fc.oneof(
  fc.constantFrom(...scraps, "ip", "1 per second", "name", "by"),
  fc.string({ maxLength: 8 }),
);
const lines = fc.array(
  fc
    .tuple(fc.nat(6), fc.array(word, { maxLength: 5 }))
    .map(([indent, words]) => " ".repeat(indent) + words.join("")),
  { maxLength: 30 },
);

/** A value anywhere in the file is replaced by any other, which no slip of the pen would bring about. */
const anything = fc.oneof(
  { maxDepth: 2 },
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(-1, 0, 1e21, "", "1/s", [], {}, [[]], { fixedWindow: {} }, { kind: "redis" }, null, true),
);
const keys = [
  "listen",
  "upstreams",
  "trustedProxies",
  "clientIpHeader",
  "identify",
  "identity",
  "store",
  "data",
  "failure",
  "proxy",
  "decide",
  "admin",
  "responses",
  "customers",
  "control",
  "edges",
  "metrics",
  "logs",
  "workers",
  "drain",
  "policy",
];
const ruleKeys = [
  "name",
  "only",
  "except",
  "by",
  "limits",
  "cost",
  "mode",
  "count",
  "hold",
  "action",
  "maxDelay",
  "clearOnSuccess",
  "trust",
  "expose",
  "onStoreFailure",
  "edges",
  "login",
];

describe("whatever is written, it is read or refused with a reason", () => {
  it("the file this begins from is in order", () => {
    expect(loadText(valid, { env }).warnings).toEqual([]);
  });

  it("a good file with slips", () => {
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        let text = valid;
        for (const { at, drop, put } of edits) text = text.slice(0, at) + put + text.slice(at + drop);
        survives(text);
      }),
      { numRuns: 200 },
    );
  });

  it("a good file cut off anywhere", () => {
    for (let end = 0; end < valid.length; end += 13) survives(valid.slice(0, end));
  });

  it("text that looks like YAML", () => {
    fc.assert(
      fc.property(lines, (text) => survives(text.join("\n"))),
      { numRuns: 200 },
    );
  });

  it("bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => survives(bytes)),
      { numRuns: 200 },
    );
    fc.assert(
      fc.property(fc.nat(valid.length), fc.nat(255), (at, byte) => {
        const bytes = Buffer.from(valid);
        bytes[at] = byte;
        survives(bytes);
      }),
      { numRuns: 200 },
    );
  });

  it("settings that are anything", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...keys), anything, { maxKeys: 4 }), (settings) =>
        survives(JSON.stringify({ upstreams: [{ url: "http://x" }], ...settings })),
      ),
      { numRuns: 200 },
    );
  });

  it("rules that are anything", () => {
    const rule = fc.dictionary(fc.constantFrom(...ruleKeys), anything, { maxKeys: 5 });
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 3 }), anything, (rules, other) =>
        survives(
          JSON.stringify({
            listen: { proxy: false },
            policy: {
              rules: rules.map((one) => ({ name: "a", by: "ip", limits: ["1/s"], ...one })),
              tiers: { a: other },
            },
          }),
        ),
      ),
      { numRuns: 200 },
    );
  });
});
