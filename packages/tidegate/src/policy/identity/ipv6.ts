import { readIpv4 } from "./ipv4.js";

/** Reads the text from start to end into eight groups. False if it is no IPv6 address; the groups are then anything. */
export function readIpv6(text: string, start: number, end: number, groups: Uint16Array): boolean {
  const gap = text.indexOf("::", start);
  if (gap < 0 || gap >= end) return readRun(text, start, end, groups, 0, true) === 8;
  const left = gap === start ? 0 : readRun(text, start, gap, groups, 0, false);
  if (left < 0 || gap + 2 > end) return false;
  const filled = gap + 2 === end ? left : readRun(text, gap + 2, end, groups, left, true);
  if (filled < 0 || filled > 7) return false;
  groups.copyWithin(8 - filled + left, left, filled);
  groups.fill(0, left, 8 - filled + left);
  return true;
}

/** Reads groups with a colon between them, the last two of which may be written as IPv4. Answers how many are filled now, or -1. */
function readRun(
  text: string,
  start: number,
  end: number,
  groups: Uint16Array,
  from: number,
  mayEndInIpv4: boolean,
): number {
  let at = start;
  for (let filled = from; filled < 8; ) {
    const next = text.indexOf(":", at);
    const stop = next < 0 || next > end ? end : next;
    const group = readGroup(text, at, stop);
    if (group < 0) return mayEndInIpv4 && stop === end ? readIpv4Tail(text, at, end, groups, filled) : -1;
    groups[filled++] = group;
    if (stop === end) return filled;
    at = stop + 1;
  }
  return -1;
}

function readIpv4Tail(text: string, start: number, end: number, groups: Uint16Array, from: number): number {
  const word = readIpv4(text, start, end);
  if (word < 0) return -1;
  groups[from] = word >>> 16;
  groups[from + 1] = word & 0xffff;
  return from + 2;
}

/** One to four hexadecimal digits, or -1. */
function readGroup(text: string, start: number, end: number): number {
  if (end - start < 1 || end - start > 4) return -1;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = hexDigit(text.charCodeAt(at));
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lowerCase = code | 32;
  return lowerCase >= 97 && lowerCase <= 102 ? lowerCase - 87 : -1;
}

/** As RFC 5952 writes eight groups: the first of the longest runs of zeros, if longer than one group, is left out. */
export function ipv6Text(groups: readonly number[]): string {
  const gap = longestZeros(groups);
  let text = "";
  for (let i = 0; i < 8; i++) {
    if (i === gap.start) {
      text += "::";
      i = gap.end - 1;
    } else {
      text += `${i === 0 || i === gap.end ? "" : ":"}${(groups[i] as number).toString(16)}`;
    }
  }
  return text;
}

function longestZeros(groups: readonly number[]): { start: number; end: number } {
  // Nothing, yet as long as one group, which is not worth leaving out.
  let gap = { start: -1, end: 0 };
  for (let start = 0; start < 8; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > gap.end - gap.start) gap = { start, end };
    start = end;
  }
  return gap;
}
