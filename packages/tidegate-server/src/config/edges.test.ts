import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Secret } from "../secret.js";
import { problemsOf } from "./config-file-error.js";
import { type Loaded, loadConfig } from "./load-config.js";

const folder = mkdtempSync(join(tmpdir(), "tidegate-edges-"));
afterAll(() => rmSync(folder, { recursive: true }));

function load(text: string): Loaded {
  const file = join(folder, "tidegate.yaml");
  writeFileSync(file, `upstreams: [{ url: http://127.0.0.1:3000 }]\n${text}`);
  return loadConfig({ file, env: { FASTLY: "a-long-enough-token" }, cwd: folder });
}

function problems(text: string) {
  try {
    load(text);
  } catch (error) {
    return problemsOf(error);
  }
  throw new Error("nothing was refused");
}

const everyKind = `edges:
  tests: { kind: memory }
  lb: { kind: haproxy, socket: run/admin.sock, maps: /etc/haproxy/tidegate/ }
  cache: { kind: varnish, url: "http://127.0.0.1:6091", token: "\${FASTLY}", maxEntries: 100000 }
  web: { kind: nginx, file: held.conf }
  cdn: { kind: fastly, service: SU1Z0isxPaozGVKXdv0eY, token: "\${FASTLY}", canary: "https://www.example.com/c" }
`;

describe("edges of every kind", () => {
  it("have every default, and paths seen from the file", () => {
    expect(load(everyKind).settings.edges).toEqual({
      tests: { kind: "memory", maxEntries: 10_000 },
      lb: {
        kind: "haproxy",
        socket: join(folder, "run/admin.sock"),
        maps: "/etc/haproxy/tidegate",
        keepsFiles: false,
        maxEntries: 100_000,
      },
      cache: {
        kind: "varnish",
        url: "http://127.0.0.1:6091",
        token: new Secret("a-long-enough-token"),
        maxEntries: 100_000,
      },
      web: {
        kind: "nginx",
        file: join(folder, "held.conf"),
        pidFile: "/run/nginx.pid",
        reloadMs: 1000,
        maxEntries: 10_000,
      },
      cdn: {
        kind: "fastly",
        service: "SU1Z0isxPaozGVKXdv0eY",
        token: new Secret("a-long-enough-token"),
        prefix: "tidegate",
        shards: 16,
        maxItems: 1000,
        api: "https://api.fastly.com",
        canary: "https://www.example.com/c",
      },
    });
    expect(JSON.stringify(load(everyKind).settings)).not.toContain("a-long-enough-token");
  });

  it("HAProxy's files are kept where their folder is on this machine, unless told otherwise", () => {
    const maps = join(folder, "maps");
    mkdirSync(maps, { recursive: true });
    const keeps = (more = "") => {
      const { edges } = load(
        `edges: { lb: { kind: haproxy, socket: "lb:9999", maps: ${maps}${more} } }\n`,
      ).settings;
      return edges.lb?.kind === "haproxy" && [edges.lb.socket, edges.lb.keepsFiles];
    };
    expect(keeps()).toEqual(["lb:9999", true]);
    expect(keeps(", keepsFiles: false")).toEqual(["lb:9999", false]);
  });

  it("a wrong one is told by its line, its path and what to write", () => {
    const text =
      "edges:\n  cache: { kind: varnish, url: http://127.0.0.1:6091 }\n  My_Edge: { kind: memory }\n";
    expect(problems(text)).toMatchObject([
      { code: "TG_EDGE_NAME", line: 4, path: "edges.My_Edge", help: "Use 1 to 32 of a-z, 0-9 and -." },
    ]);
  });
});

describe("who is spared", () => {
  const spare = (text: string) => load(`control: { spare: ${text} }\n`).settings.control.spare;

  it("is whoever is private, unless the file says otherwise", () => {
    expect(load("").settings.control.spare).toContain("192.168.0.0/16");
    expect(spare("[]")).toEqual([]);
    expect(spare("[203.0.113.9/24, 2001:DB8::1]")).toEqual(["203.0.113.0/24", "2001:db8::1"]);
    expect(spare("[private, 10.0.0.0/8]").filter((block) => block === "10.0.0.0/8")).toHaveLength(1);
  });
});

describe("addresses", () => {
  it("are tracked only where the file says at which rate", () => {
    const track = (text: string) => load(`control: { track: ${text} }\n`).settings.control.track;
    expect(track("true")).not.toHaveProperty("address");
    expect(track("{ address: 600 per minute }")).toMatchObject({ address: "600 per minute" });
    expect(problems("control: { track: { address: often } }\n")).toMatchObject([
      { line: 2, path: "control.track.address" },
    ]);
  });
});

describe("the decision log", () => {
  const log = (text: string) => load(`decisionLog: ${text}\n`).settings.decisionLog;

  it("is off, or a file seen from this one", () => {
    expect(load("").settings.decisionLog).toBeUndefined();
    expect(log("false")).toBeUndefined();
    expect(log("{ file: logs/decisions.ndjson }")).toEqual({
      file: join(folder, "logs/decisions.ndjson"),
      which: "refused",
      maxBytes: 67_108_864,
      files: 5,
    });
    expect(log("{ file: /var/log/d, which: all, maxBytes: 65536, files: 1 }")).toEqual({
      file: "/var/log/d",
      which: "all",
      maxBytes: 65_536,
      files: 1,
    });
  });
});

describe("a rule with edges", () => {
  const warnings = (edges: string, rule: string) =>
    load(`edges: ${edges}\npolicy:\n  rules:\n    - ${rule}\n`).warnings.map(({ code, path }) => [
      code,
      path,
    ]);
  const memory = "{ a: { kind: memory } }";
  const fastly = "{ cdn: { kind: fastly, service: x, token: 12345678a }, a: { kind: memory } }";
  const held = "hold: { for: 1m }";

  it("is fine by ip, network, standard or broad, when it holds", () => {
    for (const by of ["ip", "network", "standard", "broad", "[ip]"])
      expect(warnings(memory, `{ name: r, by: ${by}, limits: [5/minute], ${held}, edges: true }`)).toEqual(
        [],
      );
  });

  it("that holds nobody is told of: nothing would ever go there", () => {
    expect(warnings(memory, "{ name: r, by: ip, limits: [5/minute], edges: true }")).toEqual([
      ["TG_EDGE_RULE_HOLD", "policy.rules[0]"],
    ]);
    expect(warnings(memory, "{ name: r, by: ip, limits: [5/minute], edges: false }")).toEqual([]);
  });

  it.each(["[ip, path]", "[standard, ip]", "header:x-id", "path"])(
    "by %s is told of: no edge could know such a client",
    (by) => {
      const rule = `{ name: r, by: ${by.startsWith("[") ? by : JSON.stringify(by)}, limits: [5/minute], ${held}, edges: [a] }`;
      expect(warnings(memory, rule)).toContainEqual(["TG_EDGE_RULE_BY", "policy.rules[0]"]);
    },
  );

  it.each(["ip", "network", "broad"])(
    "by %s for some requests only is told of: an edge would refuse its clients on every path",
    (by) => {
      const rule = (more: string, fact = by) =>
        `{ name: r, by: ${fact}, limits: [5/minute], ${more}, edges: true }`;
      const told = [["TG_EDGE_RULE_ONLY", "policy.rules[0]"]];
      expect(warnings(memory, rule(`only: POST /login, ${held}`))).toEqual(told);
      expect(warnings(memory, rule(`except: /health, ${held}`))).toEqual(told);
      expect(warnings(memory, rule("only: POST /login, hold: { for: 1m, everywhere: true }"))).toEqual([]);
      expect(warnings(memory, rule(`only: POST /login, ${held}`, "standard"))).toEqual([]);
    },
  );

  it("that names an edge there is none of is refused, by its line", () => {
    const rule = `{ name: r, by: ip, limits: [5/minute], ${held}, edges: [cache, cahce] }`;
    expect(
      problems(
        `edges: { lb: { kind: memory }, cache: { kind: memory } }\npolicy:\n  rules:\n    - ${rule}\n`,
      ),
    ).toMatchObject([
      {
        code: "TG_EDGE_UNKNOWN",
        line: 5,
        path: "policy.rules[0].edges[1]",
        help: "Did you mean cache? There are lb, cache.",
      },
    ]);
    expect(problems(`policy:\n  rules:\n    - ${rule}\n`)[0]?.help).toContain("None is configured");
  });

  it("without any edge is told of", () => {
    expect(warnings("{}", `{ name: r, by: ip, limits: [5/minute], ${held}, edges: true }`)).toEqual([
      ["TG_EDGE_RULE_NONE", "policy.rules[0]"],
    ]);
  });

  it.each([
    "10 per second",
    "100 per 30s",
    "{ fixedWindow: { limit: 5, window: 10s } }",
    "{ slidingCounter: { limit: 5, window: 59s } }",
  ])("of %s is told of where it feeds an edge that takes half a minute", (limit) => {
    const rule = (edges: string) => `{ name: r, by: ip, limits: [${limit}], ${held}, edges: ${edges} }`;
    expect(warnings(fastly, rule("true"))).toEqual([["TG_EDGE_RULE_FAST", "policy.rules[0]"]]);
    expect(warnings(fastly, rule("[a]"))).toEqual([]);
  });

  it("of a minute and more feeds any edge, and so does one that forgets gradually", () => {
    for (const limit of [
      "10 per minute",
      "10 per 60s",
      "10/h",
      "{ earrrl: { rate: 30 per minute, halfLife: 30s } }",
    ])
      expect(warnings(fastly, `{ name: r, by: ip, limits: [${limit}], ${held}, edges: true }`)).toEqual([]);
  });

  it("is looked at by the limits of its tiers too", () => {
    const rule = `{ name: r, by: ip, limits: tier, ${held}, edges: true }\n  tiers: { free: [1 per second] }`;
    expect(warnings(fastly, rule)).toEqual([["TG_EDGE_RULE_FAST", "policy.rules[0]"]]);
  });
});

describe("an edge", () => {
  it("of nginx that only fingerprints would go to is told of: it knows addresses alone", () => {
    const nginx = "edges: { web: { kind: nginx, file: f } }\n";
    const codes = (rule: string) =>
      load(`${nginx}policy: { rules: [${rule}] }\n`).warnings.map(({ code, path, line }) => [
        code,
        path,
        line,
      ]);
    const terms = "limits: [5/minute], hold: { for: 1m }, edges: true";
    expect(codes(`{ name: r, by: standard, ${terms} }`)).toEqual([["TG_EDGE_BLIND", "edges.web", 2]]);
    expect(codes(`{ name: r, by: ip, ${terms} }`)).toEqual([]);
    expect(codes(`{ name: r, by: ip, only: /login, ${terms} }`).map(([code]) => code)).toEqual([
      "TG_EDGE_RULE_ONLY",
      "TG_EDGE_BLIND",
    ]);
    const byAddress = `${nginx}control: { track: { address: 600 per minute } }\n`;
    expect(load(`${byAddress}policy: { rules: [{ name: r, by: standard, ${terms} }] }\n`).warnings).toEqual(
      [],
    );
  });

  it("that takes half a minute is not fed by tracking per second in silence", () => {
    const text =
      "edges: { cdn: { kind: fastly, service: x, token: 12345678a } }\ncontrol: { track: { standard: 5 per second } }\npolicy: { rules: [{ name: r, by: ip, limits: [1/h] }] }\n";
    expect(load(text).warnings.map(({ code, path }) => [code, path])).toEqual([
      ["TG_EDGE_RULE_FAST", "control.track.standard"],
    ]);
  });
});
