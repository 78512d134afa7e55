import { request } from "node:http";
import { Duplex } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnswerReader } from "./answer-reader.js";

interface Read {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
  readonly keepAliveMs: number;
}

interface How {
  readonly method?: string;
  readonly pieces?: readonly number[];
  readonly mostHeadBytes?: number;
}

/** What is read of an answer that comes in pieces of these sizes, and then the connection's end; or why it is not taken. */
function read(
  text: string,
  { method = "GET", pieces = [], mostHeadBytes = 65_536 }: How = {},
): Read | string {
  let status = 0;
  let headers: readonly string[] = [];
  let body = "";
  const reader = new AnswerReader({
    method,
    mostHeadBytes,
    sink: {
      onBegun() {},
      onHead(code, raw) {
        status = code;
        headers = raw;
      },
      onData(piece) {
        body += piece.toString("latin1");
      },
    },
  });
  const bytes = Buffer.from(text, "latin1");
  const sizes = [...pieces];
  try {
    for (let at = 0; at < bytes.length && !reader.isOver; ) {
      const size = sizes.shift() ?? bytes.length;
      // A copy, as it may be changed.
      reader.take(Buffer.from(bytes.subarray(at, at + size)));
      at += size;
    }
  } catch (error) {
    return (error as Error).message;
  }
  if (!reader.isOver && !reader.end()) return "broke off";
  return { status, headers, body, keepAliveMs: reader.keepAliveMs };
}

const ok = "HTTP/1.1 200 OK\r\n";
const byOne = { pieces: Array.from({ length: 4000 }, () => 1) };

const taken: Record<string, [text: string, body: string, keepAliveMs: number]> = {
  "a length": [`${ok}Content-Length: 5\r\n\r\nhello`, "hello", 4000],
  "a length of nothing": [`${ok}Content-Length: 0\r\n\r\n`, "", 4000],
  chunks: [`${ok}Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n1;a=b\r\n!\r\n0\r\n\r\n`, "hello!", 4000],
  trailers: [
    `${ok}Transfer-Encoding: chunked\r\n\r\n0A\r\n0123456789\r\n0\r\nX: y\r\nZ:\r\n\r\n`,
    "0123456789",
    4000,
  ],
  "the connection's end": [`${ok}\r\nhello`, "hello", 0],
  "no reason and no headers": ["HTTP/1.1 200\r\n\r\n", "", 0],
  "a hint when it closes": [`${ok}Keep-Alive: timeout=31, max=9\r\nContent-Length: 0\r\n\r\n`, "", 30_000],
  "a hint that it closes at once": [`${ok}Keep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n`, "", 0],
  "that it closes": [`${ok}Connection: Close\r\nContent-Length: 0\r\n\r\n`, "", 0],
  "HTTP/1.0": ["HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", 0],
  "HTTP/1.0 that stays": [
    "HTTP/1.0 200 OK\r\nConnection: x, keep-alive\r\nContent-Length: 2\r\n\r\nok",
    "ok",
    4000,
  ],
  "blanks around a value": [`${ok}A: \t b \t\r\nContent-Length:   2  \r\n\r\nok`, "ok", 4000],
  "an answer to wait for it": [
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\n${ok}Content-Length: 2\r\n\r\nok`,
    "ok",
    4000,
  ],
  "no content": ["HTTP/1.1 204 No Content\r\n\r\n", "", 4000],
  "HTTP/1.0 that says both": [
    "HTTP/1.0 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 2\r\n\r\nok",
    "ok",
    0,
  ],
  "no content, with a length": ["HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "", 0],
  "not modified, with a length": ["HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "", 0],
};

const refused: Record<string, string> = {
  "two lengths": `${ok}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`,
  "a list of lengths": `${ok}Content-Length: 2, 2\r\n\r\nok`,
  "a length with a sign": `${ok}Content-Length: +2\r\n\r\nok`,
  "a length in hexadecimal": `${ok}Content-Length: 0x2\r\n\r\nok`,
  "an empty length": `${ok}Content-Length:\r\n\r\nok`,
  "a length beyond counting": `${ok}Content-Length: 9007199254740993\r\n\r\nok`,
  "a length and chunks": `${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  "chunks and a length": `${ok}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`,
  "chunks twice": `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  "another encoding": `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  "an encoding nobody knows": `${ok}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  "chunks in HTTP/1.0": "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "a blank before the colon": `${ok}Content-Length : 2\r\n\r\nok`,
  "a folded line": `${ok}A: b\r\n c\r\nContent-Length: 2\r\n\r\nok`,
  "a line without a colon": `${ok}Content-Length\r\n\r\nok`,
  "a header without a name": `${ok}: 2\r\n\r\nok`,
  "a bare line feed": `${ok}A: b\nContent-Length: 2\r\n\r\nok`,
  "a bare carriage return": `${ok}A: b\rContent-Length: 2\r\n\r\nok`,
  "a NUL": `${ok}A: b\0\r\n\r\n`,
  "a NUL in a name": `${ok}A\0: b\r\n\r\n`,
  "another version": "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
  "no version": "200 OK\r\nContent-Length: 0\r\n\r\n",
  "a status of two digits": "HTTP/1.1 99 OK\r\nContent-Length: 0\r\n\r\n",
  "a status of four digits": "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
  "another protocol": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
  "answers to wait without end": "HTTP/1.1 100 Continue\r\n\r\n".repeat(65),
  "a chunk without a size": `${ok}Transfer-Encoding: chunked\r\n\r\n\r\nhello`,
  "a chunk's size in words": `${ok}Transfer-Encoding: chunked\r\n\r\nfive\r\n`,
  "a chunk's size beyond counting": `${ok}Transfer-Encoding: chunked\r\n\r\n1000000000000\r\n`,
  "a blank behind a chunk's size": `${ok}Transfer-Encoding: chunked\r\n\r\n2 \r\nok\r\n0\r\n\r\n`,
  "a chunk longer than it says": `${ok}Transfer-Encoding: chunked\r\n\r\n2\r\noh!\r\n0\r\n\r\n`,
  "a chunk's size ended by a line feed": `${ok}Transfer-Encoding: chunked\r\n\r\n2\nok\r\n0\r\n\r\n`,
  "a line feed in an extension": `${ok}Transfer-Encoding: chunked\r\n\r\n2;a\nok\r\n0\r\n\r\n`,
  "a trailer ended by a line feed": `${ok}Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\n\r\n`,
};

describe("an answer is read", () => {
  it.each(Object.entries(taken))("by %s, whole or byte by byte", (_, [text, body, keepAliveMs]) => {
    for (const how of [{}, byOne]) expect(read(text, how)).toMatchObject({ body, keepAliveMs });
  });

  it("with its headers as they came, each with its name", () => {
    const text = `${ok}SET-cookie: a=1\r\nSet-Cookie:b=2\r\nX-Caf\xe9: no\r\n\r\n`;
    expect(read(text)).toBe("A header of it has no name.");
    expect(read(text.replace("\xe9", "e").replace("no", "\xe9"))).toMatchObject({
      headers: ["SET-cookie", "a=1", "Set-Cookie", "b=2", "X-Cafe", "\xe9"],
    });
  });

  it("to HEAD without a body, whatever its head says, and nothing more is asked there", () => {
    for (const framing of ["Content-Length: 5", "Transfer-Encoding: chunked"])
      expect(read(`${ok}${framing}\r\n\r\n`, { method: "HEAD" })).toMatchObject({ body: "", keepAliveMs: 0 });
  });

  it("and what comes behind it is nobody's: the connection is not used again", () => {
    for (const [text] of Object.values(taken).filter(([, , keepAliveMs]) => keepAliveMs > 0))
      expect(read(`${text}HTTP/1.1 200 OK\r\n`)).toMatchObject({ keepAliveMs: 0 });
  });

  it("is not whole when it breaks off", () => {
    for (const [text] of Object.values(taken).filter(([, , keepAliveMs]) => keepAliveMs > 0))
      for (let end = 1; end < text.length; end++) expect(read(text.slice(0, end)), text).toBe("broke off");
  });
});

describe("an answer is refused", () => {
  it.each(Object.entries(refused))("that has %s", (_, text) => {
    for (const how of [{}, byOne]) expect(read(text, how)).toBeTypeOf("string");
    expect(read(text)).not.toBe("broke off");
  });

  it("whose head, or what stands beside its chunks, is too large", () => {
    const most = { mostHeadBytes: 100 };
    const long = "x".repeat(101);
    expect(read(`${ok}A: ${long}\r\n\r\n`, most)).toBe("Its head is too large.");
    expect(read(`${ok}A: ${long}`, { ...most, ...byOne })).toBe("Its head is too large.");
    const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
    for (const aside of [
      `2;${long}\r\nok\r\n0\r\n\r\n`,
      `0\r\nA: ${long}\r\n\r\n`,
      `0\r\n${"A:\r\n".repeat(60)}\r\n`,
    ])
      expect(read(chunked + aside, most)).toBe("Its chunks have too much beside them.");
  });
});

/** How many bytes of it the answer takes. */
function lengthOf(text: string): number {
  for (let length = 1; length < text.length; length++) {
    const before = read(text.slice(0, length));
    const withMore = read(`${text.slice(0, length)}!`);
    if (typeof before !== "string" && JSON.stringify(bodyOf(before)) === JSON.stringify(bodyOf(withMore)))
      return length;
  }
  return text.length;
}

function bodyOf(answer: Read | string): unknown {
  return typeof answer === "string" ? answer : [answer.status, answer.headers, answer.body];
}

/** What node:http reads of the same bytes, given in one piece. */
function readByNode(text: string): Promise<Omit<Read, "keepAliveMs"> | string> {
  return new Promise((resolve) => {
    const wire = new Duplex({
      read() {},
      write(_piece, _encoding, done) {
        done();
        if (wire.readableLength > 0 || wire.readableEnded) return;
        wire.push(Buffer.from(text, "latin1"));
        wire.push(null);
      },
    });
    const asked = request({ createConnection: () => wire as never, headers: { host: "a" } });
    const fail = (error: Error): void => resolve(error.message);
    asked.once("error", fail).once("upgrade", () => resolve("an upgrade"));
    asked.once("response", (res) => {
      let body = "";
      res.setEncoding("latin1").on("data", (piece) => {
        body += piece;
      });
      res.once("error", fail).once("end", () => {
        const { statusCode: status = 0, rawHeaders: headers } = res;
        resolve(res.complete ? { status, headers, body } : "broke off");
      });
    });
    asked.end();
  });
}

/** Answers, and such as are nearly so. */
const texts = fc
  .tuple(
    fc.constantFrom(...Object.values(taken).map(([text]) => text), ...Object.values(refused)),
    fc.array(
      fc.tuple(
        fc.nat(120),
        fc.nat(3),
        fc.constantFrom(
          "",
          "\r",
          "\n",
          "\r\n",
          "\0",
          " ",
          "\t",
          ":",
          ";",
          ",",
          "0",
          "2",
          "f",
          "\xff",
          "chunked",
          "HTTP/1.1 200 OK\r\n",
        ),
      ),
      { maxLength: 4 },
    ),
  )
  .map(([text, edits]) =>
    edits.reduce((now, [at, cut, put]) => now.slice(0, at) + put + now.slice(at + cut), text),
  );

describe("beside Node's own parser", () => {
  it("nothing is taken that Node refuses, and nothing understood differently, however it comes in pieces", async () => {
    let both = 0;
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 40 }),
        async (text, pieces) => {
          const ours = read(text);
          expect(bodyOf(read(text, { pieces }))).toEqual(bodyOf(ours));
          if (typeof ours === "string") return;
          // Node reads on where an answer is over, for the next one.
          const theirs = await readByNode(text.slice(0, lengthOf(text)));
          const { status, headers, body } = ours;
          expect(theirs, JSON.stringify(text)).toEqual({ status, headers, body });
          both++;
        },
      ),
      { numRuns: 3000 },
    );
    expect(both).toBeGreaterThan(300);
  });
});
