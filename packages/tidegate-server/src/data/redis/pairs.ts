/** A reply of names and values: RESP 2 answers a list, RESP 3 a map. */
export function pairs(reply: unknown): [string, string][] {
  if (reply instanceof Map) return [...reply];
  if (!Array.isArray(reply)) return Object.entries((reply ?? {}) as Record<string, string>);
  return Array.from({ length: reply.length / 2 }, (_, i) => [reply[2 * i], reply[2 * i + 1]]);
}
