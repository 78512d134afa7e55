/** Four decimal bytes, which fill the text from start to end, as one 32-bit word; -1 if they are not that. */
export function readIpv4(text: string, start: number, end: number): number {
  let word = 0;
  let at = start;
  for (let byte = 0; byte < 4; byte++) {
    const next = byte === 3 ? end : text.indexOf(".", at);
    const value = next < 0 || next > end ? -1 : readNumber(text, at, next, 3);
    if (value < 0 || value > 255) return -1;
    word = word * 256 + value;
    at = next + 1;
  }
  return word;
}

export function ipv4Text(word: number): string {
  return `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`;
}

/** A decimal number of a few digits, without leading zeros, which fills the text from start to end; -1 if it is not that. */
export function readNumber(text: string, start: number, end: number, mostDigits: number): number {
  const length = end - start;
  if (length < 1 || length > mostDigits) return -1;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return length > 1 && text.charCodeAt(start) === 48 ? -1 : value;
}
