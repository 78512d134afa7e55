import { connect, createServer } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  closeAll,
  echo,
  eventually,
  listening,
  openConnections,
  openRig,
  openUpstream,
  type Rig,
  raw,
  type TestUpstream,
} from "./proxy-rig.js";

let app: TestUpstream;
let rig: Rig;
const crashes: unknown[] = [];
const note = (error: unknown): void => void crashes.push(error);

beforeAll(async () => {
  process.on("uncaughtException", note).on("unhandledRejection", note);
  app = await openUpstream(echo);
  rig = await openRig({
    upstreams: [{ urls: [app.url] }],
    proxy: {
      headersTimeoutMs: 400,
      requestTimeoutMs: 600,
      keepAliveMs: 200,
      maxBodyBytes: 5000,
      responseTimeoutMs: 2000,
    },
  });
});
afterAll(async () => {
  process.off("uncaughtException", note).off("unhandledRejection", note);
  await closeAll();
});

/** Sends the pieces one after the other and waits until the proxy has closed the connection. */
function close(pieces: readonly Buffer[], isHalfClosed: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: rig.port, host: "127.0.0.1", allowHalfOpen: true });
    const timer = setTimeout(() => reject(new Error("the proxy hangs")), 15_000);
    const done = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve();
    };
    socket.on("error", done).on("close", done).on("end", done).resume();
    (async () => {
      for (const piece of pieces) {
        if (socket.destroyed) return;
        socket.write(piece);
        await new Promise((next) => setImmediate(next));
      }
      if (isHalfClosed) socket.end();
    })();
  });
}

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");
const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
const token = fc.constantFrom(
  "X-A",
  "Host",
  "Content-Length",
  "Transfer-Encoding",
  "Connection",
  "Upgrade",
  "Expect",
  "Via",
  "Cookie",
  "Forwarded",
  "Sec-WebSocket-Key",
  "",
);
const value = fc.oneof(
  fc.constantFrom(
    "a",
    "chunked",
    "5",
    "0",
    "close",
    "keep-alive, upgrade",
    "websocket",
    "h2c",
    "100-continue",
    "a\0b",
    "\xff\xfe\xc3\x28",
    " ",
    "x".repeat(20_000),
    "gzip, chunked",
    "99999",
  ),
  bytes.map((buffer) => buffer.toString("latin1")),
);
const header = fc.tuple(
  token,
  fc.constantFrom(": ", ":", " : ", ""),
  value,
  fc.constantFrom("\r\n", "\r\n", "\r\n", "\n", "\r", "\r\n\t"),
);
const line = fc
  .tuple(
    fc.constantFrom("GET", "POST", "HEAD", "OPTIONS", "CONNECT", "TRACE", "BREW", "get", ""),
    fc.constantFrom(
      "/",
      "*",
      "http://a/",
      "http://b/",
      "a:1",
      "//",
      "/%00",
      "/\xe4",
      "/ x",
      "/#",
      "",
      `/${"y".repeat(20_000)}`,
    ),
    fc.constantFrom("HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "http/1.1", ""),
  )
  .map((parts) => `${parts.join(" ")}\r\n`);
const body = fc.oneof(
  fc.constantFrom(
    "",
    "hello",
    "5\r\nhello\r\n0\r\n\r\n",
    "5\r\nhel",
    "ffffffffffffffffff\r\n",
    "0\r\nX: y\r\n\r\n",
    "5;ext=1\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\n",
  ),
  bytes.map((buffer) => buffer.toString("latin1")),
);
const request = fc
  .tuple(line, fc.boolean(), fc.array(header, { maxLength: 5 }), body)
  .map(([start, isHosted, headers, rest]) =>
    latin1(
      `${start}${isHosted ? "Host: a\r\n" : ""}${headers.map((each) => each.join("")).join("")}\r\n${rest}`,
    ),
  );
/** A good request with one byte changed, or cut short. */
const nearly = fc.tuple(fc.nat(120), fc.nat(255), fc.boolean()).map(([at, byte, isCut]) => {
  const good = latin1(
    "POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
  );
  const place = at % good.length;
  if (isCut) return good.subarray(0, place);
  good[place] = byte;
  return good;
});

describe("whatever a client sends", () => {
  it("the proxy neither crashes nor hangs, answers the next one, and leaves no connection behind", async () => {
    const session = fc.tuple(
      fc.array(fc.oneof(request, nearly, bytes), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(session, { minLength: 12, maxLength: 12 }), async (sessions) => {
        await Promise.all(sessions.map(([pieces, isHalfClosed]) => close(pieces, isHalfClosed)));
        const response = await fetch(`${rig.url}/good`);
        expect(response.status).toBe(200);
        await response.text();
        expect(crashes).toEqual([]);
      }),
      { numRuns: 12, endOnFailure: true },
    );
    await eventually(() => openConnections(rig.server) === 0);
    await rig.proxy.close();
    await eventually(() => openConnections(app.server) === 0);
  }, 60_000);
});

describe("whatever an upstream answers", () => {
  it("the proxy neither crashes nor hangs, and its client's connection comes to an end", async () => {
    let answer: readonly Buffer[] = [];
    const odd = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", async () => {
        for (const piece of answer) {
          socket.write(piece);
          await new Promise((next) => setImmediate(next));
        }
        socket.end();
      });
    });
    const port = await listening(odd as never);
    const behind = await openRig({ upstreams: [{ urls: [`http://127.0.0.1:${port}`] }] });
    const status = fc
      .constantFrom(
        "200 OK",
        "204 No",
        "304 Not",
        "100 Continue",
        "101 Up",
        "103 Hints",
        "007 Odd",
        "999 Odd",
        "20 Odd",
        "",
      )
      .map((text) => `HTTP/1.1 ${text}\r\n`);
    const response = fc
      .tuple(status, fc.array(header, { maxLength: 5 }), body)
      .map(([start, headers, rest]) =>
        latin1(`${start}${headers.map((each) => each.join("")).join("")}\r\n${rest}`),
      );
    const pieces = fc.array(fc.oneof(response, response, bytes), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(pieces, fc.constantFrom("GET", "HEAD", "POST"), async (given, method) => {
        answer = given;
        const text = await raw(behind.port, `${method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
        expect(text === "" || /^HTTP\/1\.1 [2-9]\d\d /.test(text)).toBe(true);
        expect(crashes).toEqual([]);
      }),
      { numRuns: 200, endOnFailure: true },
    );
    await eventually(() => openConnections(behind.server) === 0);
    await behind.close();
    await new Promise((resolve) => odd.close(resolve));
  }, 60_000);
});
