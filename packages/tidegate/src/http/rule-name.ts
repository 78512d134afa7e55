import { sha256Hex } from "../policy/identity/digest.js";

const longestName = 64;
const digestLength = 12;

/** A rule's name out of any text. What a name can not hold goes into a digest at its end: two texts never get the same. */
export function ruleName(wanted: string): string {
  const printable = wanted.replace(/[^\x20-\x7e]/g, "?");
  if (printable === wanted && wanted.length <= longestName) return wanted;
  const digest = sha256Hex(wanted).slice(0, digestLength);
  return `${printable.slice(0, longestName - digestLength - 1)}~${digest}`;
}
