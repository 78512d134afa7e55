import { createHash } from "node:crypto";

const HOLD_MS = 3_600_000;

/** Digests, and an address for every fifth: none of them anybody's who asks here. */
const keyOf = (i) =>
  i % 5 === 0
    ? `21.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`
    : createHash("sha256").update(`nobody ${i}`).digest("hex");

export const edgeKeys = (count) => Array.from({ length: count }, (_, i) => keyOf(i));

export const edgeEntries = (keys) => {
  const until = Date.now() + HOLD_MS;
  return keys.map((key) => ({ key, until }));
};

/** As the tracker would have found them. */
export const offendersOf = (keys) => {
  const crossedAt = Date.now();
  return edgeEntries(keys).map(({ key, until }, i) => ({
    key,
    until,
    rule: "edge/standard",
    crossedAt,
    score: 2 + (i % 100) / 100,
    leaked: 0,
    edges: [],
    about: {},
  }));
};
