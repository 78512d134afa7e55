import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { readStatus } from "./status-line.js";

function reading() {
  const socket = new PassThrough();
  const statuses: number[] = [];
  readStatus(socket, (status) => statuses.push(status));
  return { socket, statuses };
}

it.each<[string, (string | Uint8Array)[], number[]]>([
  ["a text", ["HTTP/1.1 101 Switching Protocols\r\n"], [101]],
  ["bytes", [Buffer.from("HTTP/1.0 401 Unauthorized\r\n")], [401]],
  ["pieces", ["H", Buffer.from("TTP/1."), "1 40", "3 Forbidden"], [403]],
  ["the first answer of several", ["HTTP/1.1 401 No\r\n\r\n", "HTTP/1.1 500 Later\r\n\r\n"], [401]],
  ["nothing in another protocol", ["hello HTTP/1.1 401", "HTTP/1.1 401"], []],
  ["nothing in too little", ["HTTP/1.1"], []],
])("reads %s", (_, pieces, expected) => {
  const { socket, statuses } = reading();
  for (const piece of pieces) socket.write(piece);
  socket.end();
  expect(statuses).toEqual(expected);
  expect(String(socket.read())).toBe(pieces.map(String).join(""));
});

it("reads what comes with the end", () => {
  const { socket, statuses } = reading();
  socket.end("HTTP/1.1 404 Not Found\r\n\r\n");
  expect(statuses).toEqual([404]);
});

it("leaves the socket as it was once it knows, for each of several readers", () => {
  const socket = new PassThrough();
  const { write, end } = socket;
  const statuses: number[] = [];
  readStatus(socket, (status) => statuses.push(status));
  readStatus(socket, (status) => statuses.push(status));
  socket.write("HTTP/1.1 101 Switching Protocols\r\n");
  expect(statuses).toEqual([101, 101]);
  expect([socket.write === write, socket.end === end]).toEqual([true, true]);
});

it("takes away nothing that another has put in its place", () => {
  const { socket, statuses } = reading();
  const kept = socket.write;
  const another = ((chunk: string) => Reflect.apply(kept, socket, [chunk])) as typeof socket.write;
  socket.write = another;
  socket.write("HTTP/1.1 101 Switching Protocols\r\n");
  socket.write("HTTP/1.1 500 Later\r\n");
  expect(statuses).toEqual([101]);
  expect(socket.write).toBe(another);
});
