import type { IncomingMessage } from "node:http";

/**
 * The whole body of a request, once all of it is here, and left in place for whoever reads it. Undefined when it is not
 * here in time, or will not come. Of the length it is said to have, which must not be more than a request holds unread.
 */
export function peekBody(
  req: IncomingMessage,
  length: number,
  withinMs: number,
): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;

    function stop(): void {
      clearTimeout(timer);
      req.off("readable", look).off("close", stop);
      resolve(req.readableLength === length && !req.destroyed ? seen(req, length) : undefined);
    }

    function look(): void {
      if (req.readableLength === length) stop();
    }

    // What came with the head is here a tick later.
    process.nextTick(() => {
      if (req.readableLength === length || req.destroyed) {
        stop();
        return;
      }
      timer = setTimeout(stop, withinMs);
      req.on("readable", look).on("close", stop);
    });
  });
}

function seen(req: IncomingMessage, length: number): Buffer | undefined {
  const body: Buffer | null = req.read(length);
  if (body === null) return undefined;
  req.unshift(body);
  return body;
}
