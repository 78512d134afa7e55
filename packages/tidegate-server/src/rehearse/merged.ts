import type { LogCursor } from "./log-cursor.js";
import type { LoggedRequest } from "./logged-request.js";

/** Several logs as one, by time. */
export interface Merged {
  /** The oldest of what each log has next; undefined: `fill` brings more, or says that there is none. */
  next(): LoggedRequest | undefined;
  /** False when all logs are at their end. */
  fill(): Promise<boolean>;
}

interface Head {
  readonly cursor: LogCursor;
  request: LoggedRequest;
}

/**
 * Where each log is out of order by some seconds at most, so is the whole: a request is passed over only by others that
 * are older than what its own log has told before it.
 */
export function merged(cursors: readonly LogCursor[]): Merged {
  const [only] = cursors;
  if (cursors.length === 1 && only !== undefined) return only;
  /** The log whose next is oldest stands last. */
  const heads: Head[] = [];
  const dry: LogCursor[] = [...cursors];

  function enter(head: Head): void {
    let low = 0;
    let high = heads.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((heads[middle] as Head).request.at > head.request.at) low = middle + 1;
      else high = middle;
    }
    heads.splice(low, 0, head);
  }

  return {
    next() {
      if (dry.length > 0) return undefined;
      const head = heads[heads.length - 1];
      if (head === undefined) return undefined;
      const { request, cursor } = head;
      const following = cursor.next();
      const second = heads[heads.length - 2];
      if (following !== undefined && (second === undefined || following.at <= second.request.at))
        head.request = following;
      else {
        heads.pop();
        if (following === undefined) dry.push(cursor);
        else enter({ cursor, request: following });
      }
      return request;
    },
    async fill() {
      for (const cursor of dry.splice(0)) {
        let request = cursor.next();
        while (request === undefined && (await cursor.fill())) request = cursor.next();
        if (request !== undefined) enter({ cursor, request });
      }
      return heads.length > 0;
    },
  };
}
