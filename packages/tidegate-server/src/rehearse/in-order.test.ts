import { expect, it } from "vitest";
import { inOrder } from "./in-order.js";
import { LoggedRequest } from "./logged-request.js";

function request(at: number, path = ""): LoggedRequest {
  return Object.assign(new LoggedRequest(), { at, path });
}

/** What comes out, in its order. */
function sorted(requests: readonly LoggedRequest[], { windowMs = 10, most = 1e6 } = {}): LoggedRequest[] {
  const waiting = inOrder({ windowMs, most });
  const out: LoggedRequest[] = [];
  const drain = (isEnd: boolean) => {
    for (let next = waiting.shift(isEnd); next !== undefined; next = waiting.shift(isEnd)) out.push(next);
  };
  for (const each of requests) {
    waiting.push(each);
    drain(false);
  }
  drain(true);
  return out;
}

it("whatever is out of order by no more than the window comes out in order, and none is lost", () => {
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const given = Array.from({ length: 20_000 }, (_, i) =>
    request(Math.floor(i / 3 + random() * 10), String(i)),
  );
  const times = sorted(given).map(({ at }) => at);
  expect(times).toEqual(given.map(({ at }) => at).sort((a, b) => a - b));
});

it("equal times keep the order of their lines", () => {
  const given = [
    request(5, "a"),
    request(3, "b"),
    request(5, "c"),
    request(3, "d"),
    request(4, "e"),
    request(3, "f"),
  ];
  expect(sorted(given).map(({ path }) => path)).toEqual(["b", "d", "f", "e", "a", "c"]);
});

it("what is older than the window goes on late, and is not lost", () => {
  const times = sorted([request(100), request(200), request(50), request(201)]).map(({ at }) => at);
  expect(times).toEqual([100, 50, 200, 201]);
});

it("never more wait than there is room for", () => {
  const waiting = inOrder({ windowMs: 1e9, most: 100 });
  let left = 0;
  for (let i = 0; i < 10_000; i++) {
    waiting.push(request(i % 7 === 0 ? i - 5 : i));
    left++;
    while (waiting.shift(false) !== undefined) left--;
    expect(left).toBeLessThan(100);
  }
});
