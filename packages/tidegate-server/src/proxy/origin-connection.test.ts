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
