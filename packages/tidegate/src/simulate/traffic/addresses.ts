import type { Random } from "./random.js";

/**
 * Addresses of nobody: those set aside for documentation and for measuring (RFC 5737, 2544, 3849), so that a log of the
 * model never names a real client. Homes are 131,070 before two share one.
 */
export const addresses = {
  home(index: number): string {
    // Odd, so every address comes once; large, so neighbours do not stand side by side.
    const place = Math.imul(index + 1, 40_503) & 0x1ffff;
    return `198.${18 + (place >>> 16)}.${(place >>> 8) & 255}.${place & 255}`;
  },
  /** The same /64 each time, another half after it: browsers change theirs. */
  homeV6(index: number, random: Random): string {
    const part = () => random.whole(1, 0xffff).toString(16);
    return `2001:db8:${(index >>> 16).toString(16)}:${(index & 0xffff).toString(16)}:${part()}:${part()}:${part()}:${part()}`;
  },
  campus: (index: number): string => `192.0.2.${1 + (index % 100)}`,
  crawler: (index: number): string => `192.0.2.${101 + (index % 100)}`,
  machine: (index: number): string => `203.0.113.${1 + (index % 254)}`,
  abuser: (index: number): string => `198.51.100.${1 + (index % 254)}`,
  /** One of a botnet's: homes like any other, in a range that users do not have. */
  bot: (index: number): string =>
    `2001:db8:bad:${(index & 0xffff).toString(16)}::${(index + 1).toString(16)}`,
};
