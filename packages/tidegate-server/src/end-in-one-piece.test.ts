import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { endInOnePiece, longestJoined } from "./end-in-one-piece.js";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Sends bytes as they are, and answers with all that comes back, piece by piece, until the server closes. */
async function piecesOf(handler: RequestListener, sent: string): Promise<string[]> {
  const server = createServer(handler).listen(0, "127.0.0.1");
  closing.push(() => server.close());
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const pieces: string[] = [];
  socket.on("data", (piece) => pieces.push(piece.toString("latin1")));
  socket.write(sent, "latin1");
  await once(socket, "close");
  return pieces;
}

const get = (path: string, more = ""): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const last = "Connection: close\r\n";
const bodyOf = (answer: string): string => answer.slice(answer.indexOf("\r\n\r\n") + 4);

function answering(text: string, status = 200): RequestListener {
  return (_, res) => {
    res.writeHead(status, { "Content-Length": `${text.length}` });
    endInOnePiece(res, text);
  };
}

test("head and body arrive in one piece, byte for byte", async () => {
  const text = String.fromCharCode(...Array.from({ length: 256 }, (_, i) => i));
  const pieces = await piecesOf(answering(text), get("/", last));
  expect(pieces).toHaveLength(1);
  expect(pieces[0]).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Length: 256\r\n/);
  expect(bodyOf(pieces[0] as string)).toBe(text);
});

test("a body too long to be joined arrives whole", async () => {
  const text = "x".repeat(longestJoined + 1);
  expect(bodyOf((await piecesOf(answering(text), get("/", last))).join(""))).toBe(text);
});

test("HEAD, 204 and 304 have no body, whatever they are ended with", async () => {
  const head = `HEAD / HTTP/1.1\r\nHost: a\r\n${last}\r\n`;
  for (const [status, asked] of [
    [200, head],
    [204, get("/", last)],
    [304, get("/", last)],
  ] as const) {
    expect(bodyOf((await piecesOf(answering("body", status), asked)).join(""))).toBe("");
  }
});

test("without a length, or in the middle of an answer, the body goes the usual way", async () => {
  const chunked = await piecesOf(
    (_, res) => {
      res.writeHead(200);
      endInOnePiece(res, "body");
    },
    get("/", last),
  );
  expect(bodyOf(chunked.join(""))).toBe("4\r\nbody\r\n0\r\n\r\n");
  const begun = await piecesOf(
    (_, res) => {
      res.writeHead(200, { "Content-Length": "8" });
      res.write("some");
      endInOnePiece(res, "body");
    },
    get("/", last),
  );
  expect(bodyOf(begun.join(""))).toBe("somebody");
  const unwritten = await piecesOf((_, res) => endInOnePiece(res, "body"), get("/", last));
  expect(bodyOf(unwritten.join(""))).toBe("body");
});

test("answers to requests sent at once keep their order, whichever is ready first", async () => {
  const answers = await piecesOf(
    (req, res) => {
      const text = `answer to ${req.url}`;
      const answer = (): void => {
        res.writeHead(200, { "Content-Length": `${text.length}` });
        endInOnePiece(res, text);
      };
      if (req.url === "/1") setTimeout(answer, 20);
      else answer();
    },
    get("/1") + get("/2") + get("/3", last),
  );
  expect(answers.join("").match(/answer to \/\d/g)).toEqual(["answer to /1", "answer to /2", "answer to /3"]);
});
