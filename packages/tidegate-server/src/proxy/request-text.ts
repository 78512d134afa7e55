import type { Sending } from "./errand.js";

/** Methods whose requests say that they have no body. */
const withPayload = new Set(["POST", "PUT", "PATCH", "QUERY", "PROPFIND", "PROPPATCH"]);
const odd = /[^\t\x20-\x7e\x80-\xff]/;

/** A request's head as it goes to an origin, a character for each byte, with the empty line behind it. */
export function requestText(sending: Sending, originHost: string): string {
  const { method, path, host, headers } = sending;
  // Put together one by one they would be as many texts, all garbage.
  const pieces = new Array<string>(firstPieces + headers.length * 2 + 1);
  pieces[0] = `${method} ${path} HTTP/1.1\r\nhost: `;
  pieces[1] = host === "" ? originHost : host;
  pieces[2] = "\r\nconnection: keep-alive\r\n";
  let at = firstPieces;
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1] as string;
    // Node's parser lets none in, and we write none: should either be wrong, this stays one request.
    if (odd.test(value)) throw new Error(`${headers[i]} has a character that no header has.`);
    pieces[at++] = headers[i] as string;
    pieces[at++] = ": ";
    pieces[at++] = value;
    pieces[at++] = "\r\n";
  }
  pieces[at] = framing(sending);
  return pieces.join("");
}

const firstPieces = 3;

function framing({ method, body, contentLength }: Sending): string {
  if (body === null) return withPayload.has(method) ? "content-length: 0\r\n\r\n" : "\r\n";
  const length = Buffer.isBuffer(body) ? body.length : contentLength;
  return length < 0 ? "transfer-encoding: chunked\r\n\r\n" : `content-length: ${length}\r\n\r\n`;
}
