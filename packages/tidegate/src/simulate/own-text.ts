import { inOnePiece } from "../in-one-piece.js";

/** A copy to be kept, cut to a length that any number of them may have: what was cut out of a log would keep the log in memory. */
export function ownText(text: string, longest = 256): string {
  return inOnePiece(text.length > longest ? text.slice(0, longest) : text);
}
