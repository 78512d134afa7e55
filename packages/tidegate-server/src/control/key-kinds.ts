import { isAddressKey, isDigestKey } from "../edge.js";

/** What an edge may know clients by. */
export type KeyKind = "address" | "block" | "sha256" | "sha1";

/** One of each, to ask an edge about. */
const samples: Readonly<Record<KeyKind, string>> = {
  address: "203.0.113.7",
  block: "2001:db8:1:2::/64",
  sha256: "0".repeat(64),
  sha1: "0".repeat(40),
};

const kinds = Object.keys(samples) as readonly KeyKind[];

/** Which of them an edge takes: short enough to be told to others. */
export function kindsTaken(takes: (key: string) => boolean): readonly KeyKind[] {
  return kinds.filter((kind) => takes(samples[kind]));
}

export function keyKind(key: string): KeyKind | undefined {
  if (isDigestKey(key)) return key.length === 64 ? "sha256" : "sha1";
  if (!isAddressKey(key)) return undefined;
  return key.includes("/") ? "block" : "address";
}
