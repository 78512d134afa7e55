import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fingerprintVectors } from "../../../../../test/server/fingerprint-vectors.js";
import {
  broadFingerprint,
  broadText,
  type FingerprintFacts,
  fingerprintsOf,
  standardFingerprint,
  standardText,
} from "./fingerprint.js";

const facts: FingerprintFacts = {
  host: "Example.COM:8080",
  path: "/login?next=/home",
  method: "POST",
  address: "2001:db8::1",
  userAgent: "sqlmap/1.4#stable (http://sqlmap.org)",
};

/** Reads a text back into its parts: what can be read back can not be shared by two. */
function parts(text: string): string[] {
  const bytes = Buffer.from(text, "latin1");
  const found: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const colon = bytes.indexOf(":", at);
    const end = colon + 1 + Number(bytes.toString("latin1", at, colon));
    found.push(bytes.toString("latin1", colon + 1, end));
    at = end;
  }
  return found;
}

describe("the seed's form", () => {
  it("joins host, path, method, address and user agent by colons, in this order", () => {
    const text = "example.com:/login:POST:2001:db8::1:sqlmap/1.4#stable (http://sqlmap.org)";
    expect(standardText(facts, "seed")).toBe(text);
    expect(standardFingerprint(facts, "seed")).toBe(createHash("sha1").update(text).digest("hex"));
    expect(standardFingerprint(facts, "seed")).toMatch(/^[0-9a-f]{40}$/);
  });

  it("joins address and user agent for the broad one", () => {
    const text = "2001:db8::1:sqlmap/1.4#stable (http://sqlmap.org)";
    expect(broadText(facts, "seed")).toBe(text);
    expect(broadFingerprint(facts, "seed")).toBe(createHash("sha1").update(text).digest("hex"));
  });
});

it.each(["sha256", "seed"] as const)("HEAD is counted as GET, in the form %s", (form) => {
  const [get, ...heads] = ["GET", "HEAD", "head"].map((method) => standardText({ ...facts, method }, form));
  expect(heads).toEqual([get, get]);
});

describe("the form that can not collide", () => {
  it("puts each part's length in bytes before it", () => {
    const text = "11:example.com6:/login4:POST11:2001:db8::137:sqlmap/1.4#stable (http://sqlmap.org)";
    expect(standardText(facts, "sha256")).toBe(text);
    expect(standardFingerprint(facts, "sha256")).toBe(createHash("sha256").update(text).digest("hex"));
    expect(broadText(facts, "sha256")).toBe("11:2001:db8::137:sqlmap/1.4#stable (http://sqlmap.org)");
  });

  it("takes what was sent as bytes, one for each character", () => {
    const userAgent = "caf\xe9 \xff\x80";
    expect(broadText({ address: "192.0.2.1", userAgent }, "sha256")).toBe(`9:192.0.2.17:${userAgent}`);
    for (const [form, name] of [
      ["sha256", "sha256"],
      ["seed", "sha1"],
    ] as const) {
      const sent = Buffer.from(standardText({ ...facts, userAgent }, form), "latin1");
      expect(sent.includes(Buffer.from([0xe9, 0x20, 0xff, 0x80]))).toBe(true);
      expect(standardFingerprint({ ...facts, userAgent }, form)).toBe(
        createHash(name).update(sent).digest("hex"),
      );
    }
  });

  it("takes a part that can not be bytes as UTF-8, and leaves the others as they are", () => {
    const text = broadText({ address: "\xe9", userAgent: "é波🌊" }, "sha256");
    expect(Buffer.from(text, "latin1")).toEqual(
      Buffer.concat([Buffer.from("1:"), Buffer.from([0xe9]), Buffer.from("9:é波🌊")]),
    );
    expect(broadText({ address: "a", userAgent: "\udc00\ud800" }, "sha256")).toHaveLength("1:a6:".length + 6);
    expect(parts(standardText({ ...facts, host: "BÜCHER.波", path: "/波" }, "sha256")).slice(0, 2)).toEqual([
      Buffer.from("bücher.波").toString("latin1"),
      Buffer.from("/波").toString("latin1"),
    ]);
  });

  it("gives no two clients the same text, whatever colons and digits they send", () => {
    const tricky = fc.stringMatching(/^[a-z0-9:/.\x80-\xff-]{0,12}$/);
    const tuple = fc.record({
      host: tricky.map((text) => `${text}x`),
      path: tricky.map((text) => `/${text}`),
      method: fc.constantFrom("GET", "POST", "PUT"),
      address: tricky,
      userAgent: tricky,
    });
    fc.assert(
      fc.property(tuple, (one) => {
        expect(parts(standardText(one, "sha256"))).toEqual(Object.values(one));
        expect(parts(broadText(one, "sha256"))).toEqual([one.address, one.userAgent]);
      }),
      { numRuns: 1000 },
    );
  });

  it("tells apart what the seed's form takes for one", () => {
    const one = { ...facts, path: "/a", method: "GET", address: "::1", userAgent: "x" };
    const other = { ...one, address: ":", userAgent: "1:x" };
    expect(standardText(one, "seed")).toBe(standardText(other, "seed"));
    expect(standardFingerprint(one, "sha256")).not.toBe(standardFingerprint(other, "sha256"));
  });
});

describe("the standard fingerprint", () => {
  it.each<[string, Partial<FingerprintFacts>]>([
    ["the host's case and port", { host: "example.com" }],
    ["another port", { host: "EXAMPLE.com:443" }],
    ["the query", { path: "/login?next=/elsewhere" }],
    ["a target in absolute form", { path: "http://example.com/login" }],
    ["the method's case", { method: "post" }],
  ])("is not changed by %s", (_, change) => {
    expect(standardFingerprint({ ...facts, ...change }, "sha256")).toBe(standardFingerprint(facts, "sha256"));
  });

  it.each<[string, Partial<FingerprintFacts>]>([
    ["host", { host: "www.example.com" }],
    ["path", { path: "/logout" }],
    ["path's case", { path: "/Login" }],
    ["method", { method: "GET" }],
    ["address", { address: "2001:db8::2" }],
    ["user agent", { userAgent: "" }],
  ])("is another's for another %s", (_, change) => {
    expect(standardFingerprint({ ...facts, ...change }, "sha256")).not.toBe(
      standardFingerprint(facts, "sha256"),
    );
  });

  it.each([
    ["[::1]:80", "[::1]"],
    ["[::1]", "[::1]"],
    ["[::1", "[::1"],
    ["::1", "::1"],
    ["2001:db8::80", "2001:db8::80"],
    ["localhost:", "localhost"],
    ["a:b", "a:b"],
    [":80", ":80"],
    ["B\xc3\x9c.Example:80", "b\xc3\x9c.example"],
    ["", ""],
  ])("reads the host %j as %j", (host, name) => {
    expect(parts(standardText({ ...facts, host }, "sha256"))[0]).toBe(name);
  });
});

describe("the broad fingerprint", () => {
  it("is only for clients whose user agent names a known tool", () => {
    const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
    expect(broadFingerprint({ address: "192.0.2.1", userAgent: browser }, "sha256")).toBeUndefined();
    expect(broadFingerprint({ address: "192.0.2.1", userAgent: "" }, "sha256")).toBeUndefined();
    expect(broadFingerprint({ address: "192.0.2.1", userAgent: "Wfuzz/2.4" }, "sha256")).toMatch(
      /^[0-9a-f]{64}$/,
    );
  });
});

describe("a fingerprint worked out elsewhere", () => {
  it.each(fingerprintVectors)("is the same: $name", (vector) => {
    const { host, path, method, address: ip, userAgent } = vector;
    for (const form of ["sha256", "seed"] as const) {
      const header = (name: string) => (name === "user-agent" && userAgent !== "" ? userAgent : undefined);
      const found = fingerprintsOf({ ip, host, path, method, header }, form);
      expect(found.standard).toBe(vector.standard[form]);
      const text = broadText({ address: found.address, userAgent }, form);
      const hash = createHash(form === "seed" ? "sha1" : "sha256");
      expect(hash.update(text, "latin1").digest("hex")).toBe(vector.broad[form]);
      if (found.broad !== undefined) expect(found.broad).toBe(vector.broad[form]);
      expect(found.broad !== undefined).toBe(/^the tool/.test(vector.name));
    }
  });

  it("of two clients whose colons fall alike is one in the seed's form, and two in the other", () => {
    const [one, other] = fingerprintVectors.filter(({ name }) => name.startsWith("colons, "));
    expect(one?.standard.seed).toBe(other?.standard.seed);
    expect(one?.standard.sha256).not.toBe(other?.standard.sha256);
  });
});
