/** Replies, alike on every client: RESP 2 gives arrays where RESP 3 gives maps and sets, and clients give either their own form. */

export function textOf(reply: unknown): string | undefined {
  return reply === null || reply === undefined ? undefined : String(reply);
}

export function textsOf(reply: unknown): string[] {
  return Symbol.iterator in Object(reply) ? Array.from(reply as Iterable<unknown>, String) : [];
}

export function fieldsOf(reply: unknown): Map<string, string> {
  const fields = new Map<string, string>();
  if (Array.isArray(reply)) {
    for (let i = 0; i + 1 < reply.length; i += 2) fields.set(String(reply[i]), String(reply[i + 1]));
    return fields;
  }
  const pairs = reply instanceof Map ? reply : Object.entries(Object(reply));
  for (const [field, value] of pairs) fields.set(String(field), String(value));
  return fields;
}

/** True for the server's own words, as opposed to a connection's trouble. */
export function isReplyError(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && codes.some((code) => error.message.startsWith(`${code} `));
}
