import type { Socket } from "node:net";

const buffer = Buffer.allocUnsafeSlow(65_536);
const reader: unique symbol = Symbol("tidegate.reader");
type Read = (bytes: Buffer) => void;
type Readers = Socket & { [reader]?: Read };

/**
 * How connections read, as `net.connect` wants it told: all into one buffer, one at a time. Node would make 64 kB for each
 * read, cut them down to what came, and lead it through a stream.
 */
export const intoOneBuffer = { buffer, callback: take } as const;

/** Called on the socket. What nobody reads, since it came with the connection, nobody asked for. */
function take(this: unknown, size: number): boolean {
  const socket = this as Readers;
  const read = socket[reader];
  if (read === undefined) socket.destroy();
  else read(buffer.subarray(0, size));
  return true;
}

/** Has `read` get what comes on a socket, be it opened with `intoOneBuffer` or not. The bytes are `read`'s until it returns. */
export function readsInto(socket: Readers, read: Read): void {
  socket[reader] = read;
  socket.on("data", read);
}

/** Of bytes that are to be read over. */
export function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
