import fc from "fast-check";
import { expect, test } from "vitest";
import { flagOf, ProtocolError, type Reply, ReplyParser } from "./reply-parser.js";

const flags = fc
  .array(fc.stringMatching(/^[a-zA-Z][\x21-\x7e]{0,12}$/), { maxLength: 4 })
  .map((tokens) => tokens.join(" "));
const reply: fc.Arbitrary<Reply> = fc.oneof(
  fc.record({
    code: fc.constantFrom("HD", "EN", "NS", "EX", "NF", "MN", "ERROR", "CLIENT_ERROR", "SERVER_ERROR"),
    rest: flags,
    value: fc.constant(undefined),
  }),
  // Values are any bytes, among them such as look like replies.
  fc
    .tuple(
      flags,
      fc.oneof(
        fc.uint8Array({ maxLength: 80 }),
        fc.constantFrom("\r\n", "HD\r\n", "VA 9\r\n").map(Buffer.from),
      ),
    )
    .map(([tail, bytes]) => ({
      code: "VA",
      rest: tail === "" ? `${bytes.length}` : `${bytes.length} ${tail}`,
      value: Buffer.from(bytes),
    })),
);

function wire(replies: readonly Reply[]): Buffer {
  return Buffer.concat(
    replies.flatMap(({ code, rest, value }) => [
      Buffer.from(`${code}${rest === "" ? "" : ` ${rest}`}\r\n`, "latin1"),
      ...(value === undefined ? [] : [value, Buffer.from("\r\n")]),
    ]),
  );
}

/** What a parser makes of these bytes, cut at these places, and whether it took offence. */
function read(bytes: Buffer, cuts: readonly number[] = []): { replies: Reply[]; isStrange: boolean } {
  const parser = new ReplyParser();
  const replies: Reply[] = [];
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  let from = 0;
  try {
    for (const to of places) {
      parser.push(Buffer.from(bytes.subarray(from, to)), ({ value, ...reply }) =>
        replies.push({ ...reply, value: value && Buffer.from(value) }),
      );
      from = to;
    }
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError);
    return { replies, isStrange: true };
  }
  return { replies, isStrange: false };
}

const cuts = fc.array(fc.nat(), { maxLength: 12 });

test("the same replies come out however the network cuts them", () => {
  fc.assert(
    fc.property(fc.array(reply, { maxLength: 12 }), cuts, (replies, places) => {
      expect(read(wire(replies), places)).toEqual({ replies, isStrange: false });
    }),
    { numRuns: 500 },
  );
});

test("the same replies come out byte by byte", () => {
  fc.assert(
    fc.property(fc.array(reply, { maxLength: 4 }), (replies) => {
      const bytes = wire(replies);
      expect(read(bytes, Array.from(bytes.keys()))).toEqual({ replies, isStrange: false });
    }),
  );
});

test("replies before garbage are handed on, however it is cut; the garbage is not", () => {
  fc.assert(
    fc.property(
      fc.array(reply, { maxLength: 5 }),
      fc.constantFrom(
        "END\r\n",
        "STORED\r\n",
        "\r\n",
        "\n",
        "hd O1\r\n",
        "VA\r\n",
        "VA -1\r\n",
        "VA 1x\r\n",
        "VA 2\r\nabc\r\n",
      ),
      cuts,
      (replies, garbage, places) => {
        const bytes = Buffer.concat([wire(replies), Buffer.from(garbage)]);
        expect(read(bytes, places)).toEqual({ replies, isStrange: true });
      },
    ),
    { numRuns: 500 },
  );
});

test("any bytes at all are read or refused with a ProtocolError", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      cuts,
      (bytes, places) => void read(Buffer.from(bytes), places),
    ),
  );
});

test("a value announced larger than memcached keeps, and a line without end, are refused before they arrive", () => {
  expect(read(Buffer.from("VA 1048577 c1\r\n")).isStrange).toBe(true);
  expect(read(Buffer.from(`VA ${"9".repeat(40)}\r\n`)).isStrange).toBe(true);
  expect(read(Buffer.from("x".repeat(2049))).isStrange).toBe(true);
  expect(read(Buffer.from("VA 1048576 c1\r\n")).isStrange).toBe(false);
});

test("a large value in small pieces is put together once", () => {
  const value = Buffer.alloc(1024 * 1024, 7);
  const bytes = wire([{ code: "VA", rest: `${value.length} c1`, value }]);
  const started = performance.now();
  const { replies } = read(
    bytes,
    Array.from({ length: 10_000 }, (_, i) => i * 104),
  );
  expect(replies[0]?.value?.equals(value)).toBe(true);
  expect(performance.now() - started).toBeLessThan(2000);
});

test("a flag's token is found by its letter", () => {
  const found = { code: "VA", rest: "36 c12 t-1 O7", value: Buffer.alloc(36) };
  expect(["c", "t", "O", "k"].map((flag) => flagOf(found, flag))).toEqual(["12", "-1", "7", undefined]);
});
