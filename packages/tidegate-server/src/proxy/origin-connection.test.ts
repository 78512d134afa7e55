import { EventEmitter } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { Errand } from "./errand.js";
import { OriginConnection } from "./origin-connection.js";

const opened: (Server | Socket)[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) "close" in each ? each.close() : each.destroy();
});

async function openOrigin(): Promise<number> {
  const server = createServer((socket) => {
    opened.unshift(socket);
    socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  });
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as { port: number }).port;
}

function connectionTo(port: number): OriginConnection {
  const dial = (done: (error: Error | null, socket: Socket | null) => void): void => {
    const socket = connect(port, "127.0.0.1", () => done(null, socket));
    opened.unshift(socket);
  };
  return new OriginConnection({ dial, host: "a", mostHeadBytes: 1000 });
}

const nothing = (): void => {};
const sending = { method: "GET", path: "/", host: "a", headers: [], contentLength: -1, body: null };

function ask(connection: OriginConnection, own: Partial<Errand> = {}): Promise<string> {
  return new Promise((resolve) => {
    const errand = {
      sending,
      onConnect: nothing,
      onBegun: nothing,
      onHead: nothing,
      onData: nothing,
      onRead: nothing,
      onComplete: () => resolve("complete"),
      onError: (error: Error) => resolve(error.message),
      ...own,
    };
    connection.send(errand as unknown as Errand);
  });
}

const bad = (): void => {
  throw new Error("bad");
};

it("an errand that throws harms nobody but itself, whatever it is told", async () => {
  const port = await openOrigin();
  const connections = Array.from({ length: 3 }, () => connectionTo(port));
  for (const told of ["onConnect", "onBegun", "onHead", "onData", "onComplete"]) {
    for (const connection of connections) expect(await ask(connection)).toBe("complete");
    // Kept by now, so all three are sent in one turn, the bad one first.
    ask(connections[0] as OriginConnection, { [told]: bad, onError: bad });
    const others = connections.slice(1).map((connection) => ask(connection));
    expect(await Promise.all(others), told).toEqual(["complete", "complete"]);
    expect(await ask(connections[0] as OriginConnection, { [told]: bad })).toBe("bad");
  }
  for (const connection of connections) connection.close();
});

/** What a connection needs of a socket, without a network: what it hears, and when, is the test's to say. */
class FakeSocket extends EventEmitter {
  readonly written: string[] = [];
  write = (text: string): boolean => this.written.push(text) > 0;
  isPaused = (): boolean => false;
  resume = nothing;
  destroy = nothing;
}

function dialled() {
  const sockets: FakeSocket[] = [];
  const connection = new OriginConnection({
    dial(done) {
      const socket = new FakeSocket();
      sockets.push(socket);
      done(null, socket as unknown as Socket);
    },
    host: "a",
    mostHeadBytes: 1000,
  });
  return { connection, sockets };
}

const answer = (text: string): Buffer =>
  Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("what comes right behind an answer is heard before the next request is written there: an end, and what nobody asked for", async () => {
  for (const behind of [
    (socket: FakeSocket) => socket.emit("end"),
    (socket: FakeSocket) => socket.emit("data", answer("poison")),
  ]) {
    const { connection, sockets } = dialled();
    const heard: string[] = [];
    const second = { onData: (piece: Buffer) => heard.push(`${piece}`) } as unknown as Partial<Errand>;
    const answered = new Promise<string>((resolve) => {
      void ask(connection, { onComplete: () => resolve(ask(connection, second)) });
    });
    const [first] = sockets as [FakeSocket];
    // As it is read in one turn of the loop, and the rest in the next.
    first.emit("data", answer("ok"));
    setImmediate(() => behind(first));
    for (let i = 0; i < 3; i++) await turn();
    expect(first.written).toHaveLength(1);
    expect(sockets).toHaveLength(2);
    sockets[1]?.emit("data", answer("own"));
    expect(await answered).toBe("complete");
    expect(heard).toEqual(["own"]);
  }
});

it("one that has been silent for a turn is written to after this turn's reading", async () => {
  const { connection, sockets } = dialled();
  const first = ask(connection);
  sockets[0]?.emit("data", answer("ok"));
  expect(await first).toBe("complete");
  await turn();
  void ask(connection);
  await turn();
  expect(sockets[0]?.written).toHaveLength(2);
});

it("a socket that can not even be asked for is one errand's error", async () => {
  const connection = new OriginConnection({ dial: bad, host: "a", mostHeadBytes: 1000 });
  expect(await ask(connection)).toBe("bad");
  expect(await ask(connection)).toBe("bad");
});
