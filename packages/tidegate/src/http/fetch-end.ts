/** node:http's response, which @hono/node-server hands to a handler beside the request. */
interface Sender {
  once(event: "close", listener: () => void): unknown;
}

/** Who sends the answer, where the runtime says it: it knows the end of whatever is sent in the end. */
export function senderOf(beside: unknown): Sender | undefined {
  const { outgoing } = Object(beside) as { outgoing?: Sender };
  return typeof outgoing?.once === "function" ? outgoing : undefined;
}

/**
 * The same bytes; calls `onEnd` when they have ended, failed, or are wanted no more. An answer that nobody reads is
 * thrown away without a word: then `onLost` is called, some time later. It must not lead to the answer.
 */
export function watched(
  body: ReadableStream<Uint8Array>,
  onEnd: () => void,
  onLost: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const token = {};
  function end(): void {
    lost?.unregister(token);
    onEnd();
  }
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        end();
      },
      cancel(reason) {
        end();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  lost?.register(stream, onLost, token);
  return stream;
}

/** Not every runtime tells what it has thrown away. */
const lost =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : new FinalizationRegistry<() => void>((onLost) => onLost());
