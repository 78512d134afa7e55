import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { closeAll, echo, openRig, openUpstream, raw } from "./proxy-rig.js";

afterEach(closeAll);

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
const utf8 = (text: string): string => Buffer.from(text).toString("latin1");
const length = "Content-Length: 2\r\n";

/** Values an upstream may send, as the bytes they are on the wire. */
const values = {
  "latin1 in any header": ["X-Name: caf\xe9\r\n", length],
  "UTF-8 in any header": [`X-Name: ${utf8("漢字")}\r\n`, length],
  "a file's name in UTF-8 before the length": [
    `Content-Disposition: attachment; filename="${utf8("漢字.txt")}"\r\n`,
    length,
  ],
  "a file's name in UTF-8 behind the length": [
    length,
    `Content-Disposition: attachment; filename="${utf8("漢字.txt")}"\r\n`,
  ],
  "a file's name in latin1 behind the length": [
    length,
    'Content-Disposition: attachment; filename="caf\xe9.txt"\r\n',
  ],
};

describe("an answer's head goes on byte for byte", () => {
  for (const [what, lines] of Object.entries(values)) {
    for (const isApart of [false, true]) {
      it(`${what}, its body ${isApart ? "later" : "at once"}`, async () => {
        const head = Buffer.from(`HTTP/1.1 200 OK\r\n${lines.join("")}\r\n`, "latin1");
        const app = await openUpstream(async (_, { socket }) => {
          socket?.write(isApart ? head : Buffer.concat([head, Buffer.from("ok")]));
          if (!isApart) return;
          await sleep(30);
          socket?.write("ok");
        });
        const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
        const answer = await raw(port, get("/"));
        expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/);
        for (const line of lines) expect(answer).toContain(line);
      });
    }
  }

  it("a length no number can hold, which HEAD may tell", async () => {
    const huge = "Content-Length: 9007199254740993\r\n";
    const app = await openUpstream((_, { socket }) => socket?.write(`HTTP/1.1 200 OK\r\n${huge}\r\n`));
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const answer = await raw(port, get("/").replace("GET", "HEAD"));
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain(huge);
  });

  it("of a refused upgrade too", async () => {
    const lines = values["a file's name in UTF-8 behind the length"];
    const app = await openUpstream(echo);
    app.server.on("upgrade", (_, socket) =>
      socket.end(`HTTP/1.1 403 Forbidden\r\n${lines.join("")}Connection: close\r\n\r\nno`, "latin1"),
    );
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const upgrade =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==\r\n";
    const answer = await raw(port, `GET / HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 403 [\s\S]*\r\n\r\nno$/);
    for (const line of lines) expect(answer).toContain(line);
  });
});

describe("bodies that come at the same time", () => {
  it("in pieces of all sizes, on many connections, are each their own", async () => {
    const sizes = [1, 100, 4095, 4096, 8191, 8192, 8193, 65_535, 65_536, 65_537, 300_000];
    const bodyOf = (i: number): Buffer =>
      Buffer.alloc(sizes[i % sizes.length] as number, createHash("sha256").update(String(i)).digest());
    const app = await openUpstream(async (req, res) => {
      const i = Number(req.url?.slice(1));
      const body = bodyOf(i);
      res.setHeader("Content-Length", body.length);
      for (let at = 0; at < body.length; at += 20_000) {
        res.write(body.subarray(at, at + 20_000));
        if (i % 3 === 0) await sleep(1);
      }
      res.end();
    });
    const { url } = await openRig({ upstreams: [{ urls: [app.url] }] });
    await Promise.all(
      Array.from({ length: 44 }, async (_, i) => {
        const body = Buffer.from(await (await fetch(`${url}/${i}`)).arrayBuffer());
        expect(body.equals(bodyOf(i)), `body ${i}`).toBe(true);
      }),
    );
  });
});
