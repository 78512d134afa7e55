import { createHash, randomBytes } from "node:crypto";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { closeAll, eventually, openRig, openUpstream, raw } from "./proxy-rig.js";

afterEach(closeAll);

describe("nothing is held back", () => {
  it("a client has the head and each piece before the next is sent", async () => {
    let sent: ServerResponse | undefined;
    const app = await openUpstream((_, res) => {
      sent = res;
      res.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
    });
    const { url } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const response = await fetch(url);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (const piece of ["one", "two", "three"]) {
      sent?.write(piece);
      expect(Buffer.from((await reader.read()).value as Uint8Array).toString()).toBe(piece);
    }
    sent?.end();
    expect((await reader.read()).done).toBe(true);
  });

  it("a head whose length is known comes before its body", async () => {
    const app = await openUpstream((_, res) => res.writeHead(200, { "Content-Length": "2" }).flushHeaders());
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const text = await raw(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", { until: /\r\n\r\n/ });
    expect(text).toMatch(/content-length: 2/i);
  });

  it("an upstream has each piece of an upload before the next is sent", async () => {
    let upload: IncomingMessage | undefined;
    const pieces: string[] = [];
    const app = await openUpstream((req, res) => {
      upload = req
        .on("data", (piece: Buffer) => pieces.push(String(piece)))
        .on("end", () => res.end("thanks"));
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const req = httpRequest({ port, method: "POST" });
    const answered = new Promise<IncomingMessage>((resolve, reject) =>
      req.on("response", resolve).on("error", reject),
    );
    for (const [i, piece] of ["one", "two", "three"].entries()) {
      req.write(piece);
      await eventually(() => pieces.length === i + 1);
    }
    req.end();
    expect((await answered).resume().statusCode).toBe(200);
    expect(pieces).toEqual(["one", "two", "three"]);
    expect(upload?.complete).toBe(true);
  });
});

describe("50 MB", () => {
  const piece = randomBytes(1_000_000);
  const count = 50;
  const wanted = createHash("sha256");
  for (let i = 0; i < count; i++) wanted.update(piece);
  const digest = wanted.digest("hex");

  async function* pieces(): AsyncGenerator<Buffer> {
    for (let i = 0; i < count; i++) yield piece;
  }

  it("come back whole to a reader that is slow to begin, without being kept in memory", async () => {
    let written = 0;
    const app = await openUpstream((_, res) => {
      const more = (): void => {
        while (written < count) {
          written++;
          if (!res.write(piece)) return;
        }
        res.end();
      };
      res.on("drain", more);
      more();
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    const hash = createHash("sha256");
    await new Promise<void>((resolve, reject) => {
      httpRequest({ port }, async (res) => {
        res.pause();
        let before = -1;
        await eventually(async () => {
          const isStill = before === written;
          before = written;
          await new Promise((next) => setTimeout(next, 50));
          return isStill;
        });
        // What the kernel and a few streams hold; the rest waits at its source.
        expect(written).toBeLessThan(30);
        res
          .on("data", (part: Buffer) => hash.update(part))
          .on("end", resolve)
          .on("error", reject);
        res.resume();
      }).end();
    });
    expect(hash.digest("hex")).toBe(digest);
  });

  it("arrive whole at an upstream that is slow to begin, without being kept in memory", async () => {
    let begin: (() => void) | undefined;
    const app = await openUpstream((req, res) => {
      begin = () => {
        const hash = createHash("sha256");
        req.on("data", (part: Buffer) => hash.update(part)).on("end", () => res.end(hash.digest("hex")));
      };
    });
    const { port } = await openRig({ upstreams: [{ urls: [app.url] }] });
    let sent = 0;
    const req = httpRequest({ port, method: "POST", headers: { "Content-Length": piece.length * count } });
    const answered = new Promise<string>((resolve, reject) => {
      req
        .on("response", async (res) => resolve(Buffer.concat(await res.toArray()).toString()))
        .on("error", reject);
    });
    const sending = (async () => {
      for await (const part of pieces()) {
        sent++;
        if (!req.write(part)) await new Promise((drained) => req.once("drain", drained));
      }
      req.end();
    })();
    let before = -1;
    await eventually(async () => {
      const isStill = begin !== undefined && before === sent;
      before = sent;
      await new Promise((next) => setTimeout(next, 50));
      return isStill;
    });
    expect(sent).toBeLessThan(30);
    begin?.();
    await sending;
    expect(await answered).toBe(digest);
  });
});
