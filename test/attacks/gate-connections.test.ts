import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { concurrency, createGate } from "tidegate";
import { tidegate } from "tidegate/node";
import { afterEach, expect, it } from "vitest";
import { listening } from "../adapters/serving.js";
import { sendRaw } from "./gate-raw.js";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serve(handler: RequestListener): Promise<number> {
  const server: Server = createServer(handler);
  const { close } = await listening(server);
  closing.push(close);
  return (server.address() as AddressInfo).port;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

it("whoever resets the connection as soon as the request is sent is not let past the blocklist", async () => {
  let reached = 0;
  const guard = tidegate({
    rules: [{ name: "ip", by: "ip", limits: "1000 per hour" }],
    blocklist: ["127.0.0.1"],
    onWarning: () => {},
  });
  const port = await serve(
    guard((_, res) => {
      reached++;
      res.end();
    }),
  );
  for (let i = 0; i < 50; i++) {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(get("/pay").repeat(20));
    socket.resetAndDestroy();
  }
  // The server has read all it will: another connection is answered after them.
  expect(await sendRaw(port, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")).toContain(
    "403",
  );
  expect(reached).toBe(0);
});

it("leases of requests that waited behind others on a broken connection are given back", async () => {
  const slots = concurrency({ limit: 10, leaseFor: "1h" });
  const gate = createGate({ rules: [{ name: "slots", by: "path", limits: slots }] });
  const port = await serve(tidegate({ gate })(() => {}));
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(get("/").repeat(8));
  const free = async () => (await gate.explain({ ip: "127.0.0.1" })).rules[0]?.verdicts[0]?.remaining;
  await expect.poll(free).toBe(2);
  socket.destroy();
  await expect.poll(free).toBe(10);
});

it("a host named in the request's target counts, whatever the Host header says or does not say", async () => {
  const guard = tidegate({
    rules: [{ name: "api", by: "ip", only: { host: "api.example.com" }, limits: "2 per hour" }],
    onWarning: () => {},
  });
  const port = await serve(guard((_, res) => void res.end("in")));
  const ask = (lines: string) => sendRaw(port, `GET http://api.example.com/ HTTP/1.${lines}\r\n\r\n`);
  const answers = [
    await ask("0\r\nConnection: close"),
    await ask("1\r\nHost: other.example.com\r\nConnection: close"),
    await ask("0\r\nConnection: close"),
  ];
  expect(answers.map((answer) => answer.split(" ")[1])).toEqual(["200", "200", "429"]);
});
