import { connect } from "node:net";
import type { Fact } from "tidegate";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  closeAll,
  echo,
  heard,
  openRig,
  openUpstream,
  type Rig,
  raw,
  type TestUpstream,
} from "./proxy-rig.js";

let app: TestUpstream;
let rig: Rig;

beforeEach(async () => {
  app = await openUpstream(echo);
  rig = await openRig({ upstreams: [{ urls: [app.url] }], proxy: { maxBodyBytes: 1000 } });
});
afterEach(closeAll);

const smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

/** Every one is refused with this status, its connection is closed, and nothing at all reaches the upstream. */
const refused: Record<string, readonly [status: number, bytes: string]> = {
  "Content-Length and Transfer-Encoding": [
    400,
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  "Transfer-Encoding and Content-Length": [
    400,
    `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  "two lengths that differ": [
    400,
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
  ],
  "two lengths that agree": [
    400,
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
  ],
  "a list of lengths": [400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\na"],
  "a signed length": [400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na"],
  "a hexadecimal length": [400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\na"],
  "a length without end": [
    400,
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\na",
  ],
  "an unknown transfer encoding": [
    400,
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
  ],
  "gzip, chunked": [400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
  "chunked, identity": [
    400,
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
  ],
  "chunked twice": [
    400,
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  "chunked behind a control character": [
    400,
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
  ],
  "chunked in HTTP/1.0": [400, "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  "a space before the colon": [400, "GET / HTTP/1.1\r\nHost: a\r\nX-Mine : 1\r\n\r\n"],
  "a folded header": [400, "GET / HTTP/1.1\r\nHost: a\r\nX-Mine: 1\r\n\tfolded: 2\r\n\r\n"],
  "a header without a name": [400, "GET / HTTP/1.1\r\nHost: a\r\n: 1\r\n\r\n"],
  "NUL in a header": [400, "GET / HTTP/1.1\r\nHost: a\r\nX-Mine: a\0b\r\n\r\n"],
  "CR in a header": [400, "GET / HTTP/1.1\r\nHost: a\r\nX-Mine: a\rX-Other: b\r\n\r\n"],
  "bare LF between headers": [400, "GET / HTTP/1.1\r\nHost: a\r\nX-Mine: 1\nX-Other: 2\r\n\r\n"],
  "bare LF everywhere": [400, "GET / HTTP/1.1\nHost: a\n\n"],
  "no Host": [400, "GET / HTTP/1.1\r\n\r\n"],
  "an empty Host": [400, "GET / HTTP/1.1\r\nHost:\r\n\r\n"],
  "two Hosts": [400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
  "two Hosts that agree": [400, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"],
  "a Host that breaks out of quotes": [400, 'GET / HTTP/1.1\r\nHost: a";for=6.6.6.6\r\n\r\n'],
  "a Host with a path": [400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"],
  "a Host with credentials": [400, "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"],
  "a list of Hosts": [400, "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"],
  "a Host with an empty label at its end": [400, "GET / HTTP/1.1\r\nHost: a..\r\n\r\n"],
  "a Host with an empty label inside": [400, "GET / HTTP/1.1\r\nHost: a..b:80\r\n\r\n"],
  "a Host that begins with a dot": [400, "GET / HTTP/1.1\r\nHost: .a\r\n\r\n"],
  "a Host that is too long": [400, `GET / HTTP/1.1\r\nHost: ${"a.".repeat(200)}\r\n\r\n`],
  "a host in the target only": [400, "GET http://a/ HTTP/1.0\r\n\r\n"],
  "a target for another host": [400, "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n"],
  "a target with credentials": [400, "GET http://x@a/ HTTP/1.1\r\nHost: a\r\n\r\n"],
  "a target of another scheme": [400, "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n"],
  "a target with a fragment": [400, "GET /x#/../login HTTP/1.1\r\nHost: a\r\n\r\n"],
  "a target without a slash": [400, "GET x HTTP/1.1\r\nHost: a\r\n\r\n"],
  "a star that is not OPTIONS": [400, "GET * HTTP/1.1\r\nHost: a\r\n\r\n"],
  "a space in the target": [400, "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"],
  "a byte above ASCII in the target": [400, "GET /\xe4 HTTP/1.1\r\nHost: a\r\n\r\n"],
  "an unknown version": [400, "GET / HTTP/9.9\r\nHost: a\r\n\r\n"],
  "HTTP/2.0 in the request line": [505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"],
  "HTTP/0.9 in the request line": [505, "GET / HTTP/0.9\r\nHost: a\r\n\r\n"],
  "an unknown method": [400, "HACK / HTTP/1.1\r\nHost: a\r\n\r\n"],
  "no HTTP at all": [400, "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"],
  "HTTP/2 without asking": [400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  "an unknown expectation": [
    417,
    "POST / HTTP/1.1\r\nHost: a\r\nExpect: foo\r\nContent-Length: 3\r\n\r\nabc",
  ],
  TRACE: [405, "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n"],
  CONNECT: [405, "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n"],
  "a head that is too large": [431, `GET / HTTP/1.1\r\nHost: a\r\nX-Mine: ${"a".repeat(20_000)}\r\n\r\n`],
  "a target that is too large": [431, `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  "more lines than the gate is shown": [431, `GET / HTTP/1.1\r\nHost: a\r\n${"a:\r\n".repeat(1001)}\r\n`],
};

describe("nothing of it reaches the upstream:", () => {
  for (const [what, [status, bytes]] of Object.entries(refused)) {
    it(`${what} is refused with ${status}`, async () => {
      const text = await raw(rig.port, bytes);
      expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
      expect(app.count).toBe(0);
      expect((await fetch(rig.url)).status).toBe(200);
    });
  }

  it.each([
    ["an unknown expectation", "GET / HTTP/1.1\r\nHost: a\r\nExpect: foo\r\n\r\n", 417, "TG_REQUEST_EXPECT"],
    ["no host", "GET / HTTP/1.1\r\n\r\n", 400, "TG_REQUEST_INVALID"],
  ])(
    "%s is judged and counted as any request, and answered with a problem",
    async (_, bytes, status, code) => {
      const { port, gate } = await openRig({
        upstreams: [{ urls: [app.url] }],
        gate: { rules: [{ name: "all", by: "ip", limits: ["1 per 1h"] }] },
      });
      const first = await raw(port, bytes);
      expect(first).toMatch(
        new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*application/problem\\+json[\\s\\S]*${code}`),
      );
      expect(first).toMatch(/^Connection: close\r$/m);
      const close = bytes.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
      expect(await raw(port, close)).toMatch(/^HTTP\/1\.1 429 /);
      gate.update({ rules: [], blocklist: ["127.0.0.1"] });
      expect(await raw(port, close)).toMatch(/^HTTP\/1\.1 403 /);
      expect(app.count).toBe(0);
    },
  );

  it("a declared body that is too large is refused with 413, and the client is not asked for it", async () => {
    const text = await raw(
      rig.port,
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n",
      { until: /TG_REQUEST_LARGE"}/ },
    );
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*application\/problem\+json[\s\S]*TG_REQUEST_LARGE/);
    expect(app.count).toBe(0);
  });
});

describe("what a rule counts by is said once:", () => {
  const websocket = "Connection: upgrade\r\nUpgrade: websocket\r\n";
  const repeated: Record<string, readonly [by: Fact | Fact[], lines: string]> = {
    "two API keys": ["apiKey", "X-Api-Key: real\r\nX-API-KEY: junk\r\n"],
    "an API key and an empty one": ["apiKey", "X-Api-Key: real\r\nX-Api-Key:\r\n"],
    "two API keys, one spelt as CGI reads it": ["apiKey", "X-Api-Key: junk\r\nX_Api_Key: real\r\n"],
    "two bearer tokens": ["apiKey", "Authorization: Bearer junk\r\nAuthorization: Bearer real\r\n"],
    "a header that a rule names": ["header:X-Tenant", "x-tenant: a\r\nX-Tenant: a\r\n"],
    "a header that is part of a key": [["ip", "header:X-Tenant"], "x-tenant: a\r\nX-Tenant: b\r\n"],
    "two values of a cookie": ["cookie:sid", "Cookie: sid=junk; a=b; sid=real\r\n"],
    "two values of a cookie in two lines": ["cookie:sid", "Cookie: sid=junk\r\nCookie: sid=real\r\n"],
    "an API key that is spelt as CGI reads it": ["apiKey", "X_Api_Key: real\r\n"],
    "a header that a rule names, in another spelling": ["header:X-Tenant", "x_tenant: a\r\n"],
    "two names of basic auth": ["account", "Authorization: Basic YTpi\r\nAuthorization: Basic Yzpk\r\n"],
    "two API keys of a WebSocket": ["apiKey", `X-Api-Key: real\r\nX-Api-Key: junk\r\n${websocket}`],
  };
  const ask = (lines: string): Promise<string> =>
    raw(rig.port, `GET / HTTP/1.1\r\nHost: a\r\n${lines}\r\n`, { until: /\}$/ });

  for (const [what, [by, lines]] of Object.entries(repeated)) {
    it(`${what} are refused with 400, and pass where no rule in force looks at them`, async () => {
      rig.gate.update({ rules: [{ name: "counted", by, limits: ["9 per 1h"] }] });
      expect(await ask(lines)).toMatch(/^HTTP\/1\.1 400 [\s\S]*TG_REQUEST_REPEATED/);
      expect(app.count).toBe(0);
      rig.gate.update({ rules: [{ name: "counted", by: "ip", limits: ["9 per 1h"] }] });
      expect(await ask(lines)).toMatch(/^HTTP\/1\.1 200 /);
    });
  }

  it("pass where the rule only watches, is off or is about other requests, and where the whole policy is", async () => {
    const rule = { name: "counted", by: "cookie:sid", limits: ["9 per 1h"] } as const;
    const twice = "Cookie: sid=junk; sid=real\r\n";
    const enforced = /^HTTP\/1\.1 400 [\s\S]*TG_REQUEST_REPEATED/;
    for (const policy of [
      { rules: [{ ...rule, mode: "shadow" as const }] },
      { rules: [{ ...rule, mode: "off" as const }] },
      { rules: [rule], mode: "shadow" as const },
      { rules: [rule], mode: "off" as const },
      { rules: [{ ...rule, only: "/login" }] },
      { rules: [{ ...rule, only: "POST /" }] },
      { rules: [{ ...rule, except: "GET /" }] },
    ]) {
      rig.gate.update(policy);
      expect([policy, await ask(twice)]).toEqual([policy, expect.stringMatching(/^HTTP\/1\.1 200 /)]);
    }
    rig.gate.update({
      rules: [{ ...rule, only: "/login", hold: { after: 1, for: "1h", everywhere: true } }],
    });
    expect(await ask(twice)).toMatch(enforced);
    rig.gate.update({ rules: [{ ...rule, only: "/login" }] });
    for (const path of ["/login", "/LOGIN/", "/x/..%2flogin"])
      expect(
        await raw(rig.port, `GET ${path} HTTP/1.1\r\nHost: a\r\n${twice}\r\n`, { until: /\}$/ }),
      ).toMatch(enforced);
  });

  it("once is once: a key, a token and a cookie that is there twice with one value pass", async () => {
    rig.gate.update({ rules: [{ name: "all", by: ["apiKey", "cookie:sid"], limits: ["9 per 1h"] }] });
    const lines = "X-Api-Key: a\r\nAuthorization: Bearer b\r\nCookie: sid=c; Sid=d; sid=c\r\n";
    expect(await ask(`${lines}Accept: a\r\nAccept: b\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("a request that begins well", () => {
  it("and whose chunks outgrow the limit is stopped with 413 on both sides", async () => {
    let isCut = false;
    const slow = await openUpstream((req) => req.resume().on("close", () => (isCut = !req.complete)));
    const { port } = await openRig({ upstreams: [{ urls: [slow.url] }], proxy: { maxBodyBytes: 1000 } });
    const chunk = `100\r\n${"x".repeat(256)}\r\n`;
    const text = await raw(
      port,
      `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(8)}`,
      {
        until: /TG_REQUEST_LARGE"}/,
      },
    );
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    await expect.poll(() => isCut).toBe(true);
  });

  it("and whose chunks are broken never looks whole to the upstream", async () => {
    let ending = "";
    const slow = await openUpstream((req) =>
      req.resume().on("close", () => (ending = req.complete ? "whole" : "cut")),
    );
    const { port } = await openRig({ upstreams: [{ urls: [slow.url] }] });
    for (const bad of [
      "zz\r\nabc\r\n0\r\n\r\n",
      "3\r\nabcdef\r\n0\r\n\r\n",
      "-1\r\nabc\r\n",
      "3;\nabc\r\n0\r\n\r\n",
    ]) {
      ending = "";
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      const before = slow.count;
      socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
      await expect.poll(() => slow.count).toBe(before + 1);
      const answer = heard(socket, undefined);
      socket.write(bad);
      expect(await answer).toMatch(/^(HTTP\/1\.1 400 |$)/);
      await expect.poll(() => ending).toBe("cut");
    }
  });

  it("and is pipelined with garbage is answered, and the garbage is not passed on", async () => {
    const text = await raw(rig.port, "GET /good HTTP/1.1\r\nHost: a\r\n\r\n\x01\x02garbage\r\n\r\n");
    expect(text).toMatch(/^HTTP\/1\.1 (200|400) /);
    expect(app.count).toBeLessThanOrEqual(1);
  });
});

describe("who takes his time", () => {
  it("over his headers is told 408", async () => {
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }], proxy: { headersTimeoutMs: 300 } });
    expect(await raw(port, "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ")).toMatch(/^HTTP\/1\.1 408 /);
    expect(app.count).toBe(0);
  });

  it("over his body is told 408, and the upstream's request is cut", async () => {
    let isCut = false;
    const slow = await openUpstream((req) => req.resume().on("close", () => (isCut = !req.complete)));
    const { port } = await openRig({
      upstreams: [{ urls: [slow.url] }],
      proxy: { headersTimeoutMs: 300, requestTimeoutMs: 500 },
    });
    expect(await raw(port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")).toMatch(
      /^HTTP\/1\.1 408 /,
    );
    await expect.poll(() => isCut).toBe(true);
  });

  it("over reading his answer is cut off", async () => {
    let isCut = false;
    const big = await openUpstream((_, res) => {
      const piece = Buffer.alloc(1_000_000);
      const write = (): void => {
        while (!res.destroyed && res.write(piece));
      };
      res.on("drain", write).on("close", () => (isCut = true));
      write();
    });
    const { port } = await openRig({ upstreams: [{ urls: [big.url] }], proxy: { idleTimeoutMs: 500 } });
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    socket.pause();
    await expect.poll(() => isCut, { timeout: 10_000 }).toBe(true);
    socket.destroy();
  });
});

describe("odd but right", () => {
  it("an absolute target goes to its path", async () => {
    const ask = (target: string): Promise<string> =>
      raw(rig.port, `GET ${target} HTTP/1.1\r\nHost: A\r\nConnection: close\r\n\r\n`);
    expect(await ask("http://a/x?y")).toContain('"url":"/x?y"');
    expect(await ask("http://a?y")).toContain('"url":"/?y"');
    expect(await ask("http://a")).toContain('"url":"/"');
  });

  it("OPTIONS * is answered by the proxy itself", async () => {
    const text = await raw(rig.port, "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(text).toMatch(/^HTTP\/1\.1 204 [\s\S]*Allow: GET/);
    expect(app.count).toBe(0);
  });

  it("bytes above ASCII go through as they are in headers", async () => {
    const text = await raw(
      rig.port,
      "GET / HTTP/1.1\r\nHost: a\r\nX-Mine: \xff\xfe\r\nConnection: close\r\n\r\n",
    );
    expect(text).toMatch(/^HTTP\/1\.1 200/);
    expect(Buffer.from(text, "latin1").toString()).toContain('"x-mine":"ÿþ"');
  });
});
