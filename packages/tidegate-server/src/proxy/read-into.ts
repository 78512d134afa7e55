import type { Socket } from "node:net";

const buffer = Buffer.allocUnsafeSlow(65_536);

/**
 * How connections read, as `net.connect` wants it told: all into one buffer, one at a time. Node would make 64 kB for each
 * read and cut them down to what came: here small answers share a slab.
 */
export const intoOneBuffer = { buffer, callback: take } as const;

/** Called on the socket. False: it has enough for now. */
function take(this: unknown, size: number): boolean {
  const socket = this as Socket;
  const came = buffer.subarray(0, size);
  return socket.push(socket.readableLength > 0 ? copyOf(came) : Buffer.from(came));
}

/** What has to wait must not keep a slab alive in which it is but a little. */
export function byItself(piece: Buffer): Buffer {
  return piece.length < piece.buffer.byteLength / 2 ? copyOf(piece) : piece;
}

function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
