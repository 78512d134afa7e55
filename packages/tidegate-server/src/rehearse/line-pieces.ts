import type { LogBytes } from "./log-bytes.js";

/** Some whole lines, each with its `\n`. */
export interface LinePiece {
  /** A character a byte: no byte is wrong, and none is lost. */
  readonly text: string;
  /** The same bytes, until the next piece is asked for. */
  readonly view: DataView;
}

export interface LinePieces {
  /** Undefined at the end. */
  next(): Promise<LinePiece | undefined>;
}

/** Texts of this size are made and forgotten cheaply. */
const pieceBytes = 65_536;
/** A longer line is not read. */
const longestLine = 1_048_576;

/** `onTooLong` is told the begin of a line that is left out. */
export function linePieces(bytes: LogBytes, onTooLong: (start: string) => void): LinePieces {
  let chunk: Uint8Array = new Uint8Array(0);
  let read = 0;
  let buffer = Buffer.allocUnsafe(pieceBytes * 2);
  /** Of the buffer so much is filled; the first `used` bytes have been handed out. */
  let filled = 0;
  let used = 0;
  let isTooLong = false;

  /** Puts more bytes behind those of the line begun. False at the end. */
  async function more(): Promise<boolean> {
    if (read === chunk.byteLength) {
      const next = await bytes.next();
      if (next === undefined) return false;
      chunk = next;
      read = 0;
    }
    buffer.copyWithin(0, used, filled);
    filled -= used;
    used = 0;
    const count = Math.min(pieceBytes, chunk.byteLength - read);
    if (filled + count > buffer.length) {
      const larger = Buffer.allocUnsafe(buffer.length * 2);
      buffer.copy(larger, 0, 0, filled);
      buffer = larger;
    }
    buffer.set(chunk.subarray(read, read + count), filled);
    filled += count;
    read += count;
    return true;
  }

  function skipLongLine(): void {
    const end = buffer.subarray(0, filled).indexOf(10);
    used = end < 0 ? filled : end + 1;
    isTooLong = end < 0;
  }

  function handOut(end: number): LinePiece {
    const piece = {
      text: buffer.toString("latin1", used, end),
      view: new DataView(buffer.buffer, buffer.byteOffset + used, end - used),
    };
    used = end;
    return piece;
  }

  return {
    async next() {
      while (await more()) {
        if (isTooLong) skipLongLine();
        const end = buffer.subarray(used, filled).lastIndexOf(10);
        if (end >= 0) return handOut(used + end + 1);
        if (filled - used <= longestLine) continue;
        onTooLong(buffer.toString("latin1", used, used + 1024));
        used = filled;
        isTooLong = true;
      }
      if (used === filled || isTooLong) return undefined;
      // The last line may lack its end.
      if (filled === buffer.length) buffer = Buffer.concat([buffer], filled + 1);
      buffer[filled++] = 10;
      return handOut(filled);
    },
  };
}
