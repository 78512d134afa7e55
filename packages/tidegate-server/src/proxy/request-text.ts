import type { Sending } from "./errand.js";

/** Methods whose requests say that they have no body. */
const withPayload = new Set(["POST", "PUT", "PATCH", "QUERY", "PROPFIND", "PROPPATCH"]);
const odd = /[^\t\x20-\x7e\x80-\xff]/;

/** Used over and over: pieces put together one by one would be as many texts, all garbage. */
const pieces: string[] = [];

/** A request's head as it goes to an origin, a character for each byte, with the empty line behind it. */
export function requestText(sending: Sending, originHost: string): string {
  const { method, path, host, headers } = sending;
  pieces.length = 0;
  pieces.push(method, " ", path, " HTTP/1.1\r\nhost: ", host === "" ? originHost : host);
  pieces.push("\r\nconnection: keep-alive\r\n");
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1] as string;
    // Node's parser lets none in, and we write none: should either be wrong, this stays one request.
    if (odd.test(value)) throw new Error(`${headers[i]} has a character that no header has.`);
    pieces.push(headers[i] as string, ": ", value, "\r\n");
  }
  pieces.push(framing(sending), "\r\n");
  return pieces.join("");
}

function framing({ method, body, contentLength }: Sending): string {
  if (body === null) return withPayload.has(method) ? "content-length: 0\r\n" : "";
  const length = Buffer.isBuffer(body) ? body.length : contentLength;
  return length < 0 ? "transfer-encoding: chunked\r\n" : `content-length: ${length}\r\n`;
}
