/** One event of a stream of them. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  /** The last one said so far. */
  readonly id: string | undefined;
}

/** Longer ones are nobody's events. */
const longest = 16 * 1024 * 1024;

/** Server-sent events, one by one, until the stream ends. Comments are left out. */
export async function* eventStream(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  let id: string | undefined;
  for await (const piece of body) {
    rest += decoder.decode(piece, { stream: true });
    const parts = rest.split("\n\n");
    rest = parts.pop() as string;
    if (rest.length > longest) throw new Error("an event without an end");
    for (const part of parts) {
      const fields = fieldsOf(part);
      id = fields.get("id") ?? id;
      const data = fields.get("data");
      if (data !== undefined) yield { event: fields.get("event") ?? "message", data, id };
    }
  }
}

function fieldsOf(part: string): Map<string, string> {
  return new Map(
    part.split("\n").flatMap((line): [string, string][] => {
      const colon = line.indexOf(":");
      return colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")]];
    }),
  );
}
