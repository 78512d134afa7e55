import type { LoggedRequest } from "./logged-request.js";

/** Requests by their time, though they came a little out of order. Bounded. */
export interface InOrder {
  push(request: LoggedRequest): void;
  /** The oldest, when none older can come any more; undefined otherwise. `isEnd`: none comes at all. */
  shift(isEnd: boolean): LoggedRequest | undefined;
}

export interface InOrderOptions {
  /** How much later than its turn a request may come. */
  readonly windowMs: number;
  /** Of this many that wait the oldest goes, window or not. */
  readonly most: number;
}

/** Those in order stand in a queue, which costs next to nothing; only those out of it go to a heap. Equal times keep their order. */
export function inOrder({ windowMs, most }: InOrderOptions): InOrder {
  const queue: (LoggedRequest | undefined)[] = new Array(1024);
  let mask = queue.length - 1;
  let first = 0;
  let count = 0;
  let newest = Number.NEGATIVE_INFINITY;
  const late = lateHeap();

  function grow(): void {
    const moved = Array.from({ length: count }, (_, i) => queue[(first + i) & mask]);
    queue.length = 0;
    for (const each of moved) queue.push(each);
    queue.length = moved.length * 2;
    mask = queue.length - 1;
    first = 0;
  }

  return {
    push(request) {
      if (request.at < newest) {
        late.push(request);
        return;
      }
      newest = request.at;
      if (count === queue.length) grow();
      queue[(first + count) & mask] = request;
      count++;
    },
    shift(isEnd) {
      const head = count === 0 ? undefined : queue[first];
      const other = late.top();
      // Of equal times the one in the queue came first: whatever is late came after something newer.
      const isLate = other !== undefined && (head === undefined || other.at < head.at);
      const oldest = isLate ? other : head;
      if (oldest === undefined) return undefined;
      if (!isEnd && newest - oldest.at < windowMs && count + late.size() < most) return undefined;
      if (isLate) late.pop();
      else {
        queue[first] = undefined;
        first = (first + 1) & mask;
        count--;
      }
      return oldest;
    },
  };
}

interface Late {
  readonly request: LoggedRequest;
  readonly turn: number;
}

function lateHeap() {
  const heap: Late[] = [];
  let turn = 0;
  const isBefore = (a: Late, b: Late) =>
    a.request.at < b.request.at || (a.request.at === b.request.at && a.turn < b.turn);

  return {
    size: () => heap.length,
    top: () => heap[0]?.request,
    push(request: LoggedRequest): void {
      const added = { request, turn: turn++ };
      let at = heap.length;
      for (let above = (at - 1) >> 1; at > 0 && isBefore(added, heap[above] as Late); above = (at - 1) >> 1) {
        heap[at] = heap[above] as Late;
        at = above;
      }
      heap[at] = added;
    },
    pop(): void {
      const last = heap.pop() as Late;
      if (heap.length === 0) return;
      let at = 0;
      for (;;) {
        let below = at * 2 + 1;
        if (below >= heap.length) break;
        if (below + 1 < heap.length && isBefore(heap[below + 1] as Late, heap[below] as Late)) below++;
        if (!isBefore(heap[below] as Late, last)) break;
        heap[at] = heap[below] as Late;
        at = below;
      }
      heap[at] = last;
    },
  };
}
