import type { ModelledRequest, Sequence } from "./truth.js";

interface Head {
  readonly request: ModelledRequest;
  readonly rest: Sequence;
  /** Breaks ties, so that the order is always the same. */
  readonly index: number;
}

/** Many sequences as one, in the order of time. Holds one request of each. */
export function* merge(sequences: Iterable<Sequence>): Sequence {
  const heap: Head[] = [];
  let index = 0;
  for (const rest of sequences) {
    const first = rest.next();
    if (!first.done) rise(heap, { request: first.value, rest, index: index++ });
  }
  while (heap[0] !== undefined) {
    const { request, rest, index: own } = heap[0];
    yield request;
    const next = rest.next();
    const last = next.done ? (heap.pop() as Head) : { request: next.value, rest, index: own };
    if (heap.length > 0) sink(heap, last);
  }
}

function isBefore(one: Head, other: Head): boolean {
  return one.request.at === other.request.at ? one.index < other.index : one.request.at < other.request.at;
}

function rise(heap: Head[], head: Head): void {
  let at = heap.length;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] as Head;
    if (!isBefore(head, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = head;
}

/** Puts a head in the place of the first. */
function sink(heap: Head[], head: Head): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Head, heap[child] as Head)) child++;
    const below = heap[child] as Head;
    if (!isBefore(below, head)) break;
    heap[at] = below;
    at = child;
  }
  heap[at] = head;
}
