import { isIP } from "node:net";

/** An address, also in brackets or with a port behind it, by itself; empty for what is none. */
export function addressText(text: string): string {
  if (isIP(text) !== 0) return text;
  const [, bracketed] = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? [];
  const address = bracketed ?? text.slice(0, Math.max(0, text.lastIndexOf(":")));
  return isIP(address) === 0 ? "" : address;
}
