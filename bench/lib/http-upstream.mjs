// The app behind proxies and edges: raw sockets and fixed answers, so that it is never the slowest.
import { createServer } from "node:net";
import { answers } from "./wire-requests.mjs";

const END = Buffer.from("\r\n\r\n");
const answer = (body) =>
  Buffer.from(
    [
      "HTTP/1.1 200 OK",
      "Content-Type: text/plain; charset=utf-8",
      `Content-Length: ${body.length}`,
      'ETag: W/"6-u4t1fzFZ"',
      "Date: Sun, 06 Nov 1994 08:49:37 GMT",
      "Connection: keep-alive",
      "Keep-Alive: timeout=600",
      "",
      body,
    ].join("\r\n"),
    "latin1",
  );
const SMALL = answer(answers.get);
const LARGE = answer(answers.post);

/** Where a chunked body that begins at `at` ends; -1: not there yet. */
function endOfChunks(bytes, at) {
  for (;;) {
    const line = bytes.indexOf("\r\n", at);
    if (line < 0) return -1;
    const size = Number.parseInt(bytes.latin1Slice(at, line), 16);
    at = line + 2 + size + 2;
    if (at > bytes.length) return -1;
    if (size === 0) return at;
  }
}

/** Where the request that begins at `at` ends; -1: not there yet. */
function endOfRequest(bytes, at) {
  const end = bytes.indexOf(END, at);
  if (end < 0) return -1;
  const head = bytes.latin1Slice(at, end);
  const body = end + END.length;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (length !== null) {
    const whole = body + Number(length[1]);
    return whole <= bytes.length ? whole : -1;
  }
  return /\r\ntransfer-encoding: *chunked/i.test(head) ? endOfChunks(bytes, body) : body;
}

let connections = 0;

const server = createServer({ noDelay: true }, (socket) => {
  connections++;
  let rest;
  socket.on("data", (piece) => {
    const bytes = rest === undefined ? piece : Buffer.concat([rest, piece]);
    let at = 0;
    for (let end = endOfRequest(bytes, 0); end > 0; end = at < bytes.length ? endOfRequest(bytes, at) : -1) {
      socket.write(bytes[at] === 0x50 ? LARGE : SMALL);
      at = end;
    }
    rest = at < bytes.length ? bytes.subarray(at) : undefined;
  });
  socket.on("error", () => socket.destroy());
});

/** What a process does that has it. */
export const upstreamActs = {
  listen: () => new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port))),
  /** How many there have been. */
  connections: () => connections,
};
