import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { AlienAnswer, LineClosed, type OrderLine, openOrderLine } from "./order-line.js";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A listener that does with what it is sent as told. */
async function lineTo(
  behave: (socket: Socket, piece: string) => void,
  patienceMs = 5_000,
): Promise<OrderLine> {
  const server = createServer((socket) => {
    socket.setEncoding("latin1").on("data", (piece: string) => behave(socket, piece));
    socket.on("error", () => {});
    closers.push(() => socket.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => server.close());
  const line = openOrderLine({ host: "127.0.0.1", port: (server.address() as AddressInfo).port, patienceMs });
  closers.push(line.close);
  return line;
}

const answer = (status: number, body = "") =>
  `HTTP/1.1 ${status} X\r\nX-Status: ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

it("orders sent at once leave in one piece, and each gets its own answer", async () => {
  const pieces: string[] = [];
  const line = await lineTo((socket, piece) => {
    pieces.push(piece);
    socket.write(answer(200, "one") + answer(404) + answer(409, "HTTP/1.1 200 X\r\n\r\n"));
  });
  const answers = await Promise.all(["a", "b", "c"].map((order) => line.send(order)));
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 409]);
  expect(answers.map((each) => each.header("x-status"))).toEqual(["200", "404", "409"]);
  expect(answers[0]?.header("content")).toBeUndefined();
  expect(pieces.join("")).toBe("abc");
  expect(line.underWay).toBe(0);
});

it("an answer that comes byte by byte is one answer", async () => {
  const line = await lineTo(async (socket) => {
    for (const byte of answer(200, "body")) {
      socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  expect((await line.send("a")).status).toBe(200);
});

it("a line that is closed with orders under way says so to each of them, and takes no more", async () => {
  const line = await lineTo((socket) => socket.end(answer(200)));
  const [first, ...rest] = await Promise.allSettled(["a", "b", "c"].map((order) => line.send(order)));
  expect(first).toMatchObject({ status: "fulfilled" });
  for (const each of rest) expect(each).toMatchObject({ reason: expect.any(LineClosed) });
  expect(line.isOpen).toBe(false);
});

it("one that says it will close is asked no more", async () => {
  const line = await lineTo((socket) =>
    socket.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
  );
  await line.send("a");
  expect(line.isOpen).toBe(false);
});

it.each([
  ["no HTTP", "220 mail.example ESMTP\r\n\r\n"],
  ["another HTTP", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"],
  ["no length", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"],
  ["an endless length", "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"],
  ["no end", "HTTP/1.1 200 OK\r\n".padEnd(40_000, "x")],
])("whoever answers with %s is not our VCL", async (_, said) => {
  const line = await lineTo((socket) => socket.write(said));
  await expect(line.send("a")).rejects.toBeInstanceOf(AlienAnswer);
});

it("an answer nobody asked for ends the line", async () => {
  const line = await lineTo((socket) => socket.write(answer(200) + answer(200)));
  await line.send("a");
  expect(line.isOpen).toBe(false);
});

it("silence ends it", async () => {
  const line = await lineTo(() => {}, 50);
  await expect(line.send("a")).rejects.toThrow("silent for 50 ms");
});
