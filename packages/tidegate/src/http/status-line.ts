import type { Duplex } from "node:stream";

const statusLine = /^HTTP\/1\.[01] (\d{3})/;
const readLength = "HTTP/1.1 101".length;

/** Reads the status off the first bytes that are written to a socket, and then leaves it alone. */
export function readStatus(socket: Duplex, tell: (status: number) => void): void {
  const { write, end } = socket;
  let head = "";

  function read(chunk: unknown): void {
    head += startOf(chunk);
    if (head.length < readLength) return;
    if (socket.write === readingWrite) socket.write = write;
    if (socket.end === readingEnd) socket.end = end;
    const status = statusLine.exec(head)?.[1];
    if (status !== undefined) tell(Number(status));
  }

  /** Others may have kept hold of these, and still write through them later. */
  function reading<Method extends Duplex["write"] | Duplex["end"]>(method: Method): Method {
    return function readThenWrite(this: Duplex, ...given: unknown[]) {
      if (head.length < readLength) read(given[0]);
      return Reflect.apply(method, this, given);
    } as Method;
  }

  const readingWrite = reading(write);
  const readingEnd = reading(end);
  socket.write = readingWrite;
  socket.end = readingEnd;
}

function startOf(chunk: unknown): string {
  if (typeof chunk === "string") return chunk.slice(0, readLength);
  return chunk instanceof Uint8Array ? String.fromCharCode(...chunk.subarray(0, readLength)) : "";
}
