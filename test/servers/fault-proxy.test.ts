import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { ask } from "./child-server.js";
import { type FaultProxy, faultProxy } from "./index.js";

let proxy: FaultProxy;
beforeEach(async () => {
  proxy = await faultProxy(inject("redisPort"));
});
afterEach(() => proxy.stop());

const key = () => `fault-proxy:${Math.random()}`;

test("left alone, it changes nothing", async () => {
  expect(await ask(proxy.port, "PING\r\n")).toBe("+PONG\r\n");
});

test("cut breaks open connections and accepts new ones", async () => {
  const socket = connect(proxy.port, "127.0.0.1");
  socket.write("PING\r\n");
  await once(socket, "data");
  const closed = once(socket, "close");
  proxy.cut();
  await closed;
  expect(await ask(proxy.port, "PING\r\n")).toBe("+PONG\r\n");
});

test("swallowed replies: the request was carried out, nobody hears of it", async () => {
  const counter = key();
  proxy.swallowReplies(true);
  await expect(ask(proxy.port, `INCR ${counter}\r\n`, 100)).rejects.toThrow("no answer");
  proxy.swallowReplies(false);
  expect(await ask(proxy.port, `INCR ${counter}\r\n`)).toBe(":2\r\n");
});

test("delay holds replies back", async () => {
  proxy.delay(80);
  const started = performance.now();
  await ask(proxy.port, "PING\r\n");
  expect(performance.now() - started).toBeGreaterThan(75);
});

test("refuse turns new connections away on the same port, until it is lifted", async () => {
  await proxy.refuse(true);
  await expect(ask(proxy.port, "PING\r\n")).rejects.toThrow("ECONNREFUSED");
  await proxy.refuse(false);
  expect(await ask(proxy.port, "PING\r\n")).toBe("+PONG\r\n");
});
