// Clients of a front, in a process of their own. Each has a connection and a public address, told by the PROXY protocol.
import { connect } from "node:net";
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { answerParent } from "./child.mjs";
import { quantile } from "./stats.mjs";
import { requests } from "./wire-requests.mjs";

const REQUEST = Buffer.from(requests.get, "latin1");
/** Answered by the front itself if it would let the client pass, so that asking costs what is measured nothing. */
const PROBE = Buffer.from(requests.get.replace("\r\n\r\n", "\r\nX-Probe: 1\r\n\r\n"), "latin1");
const END = "\r\n\r\n";
/** What an edge answers, and Tidegate itself does not. */
const REFUSAL = "<h1>Too Many Requests</h1>";
const GIVE_UP_MS = 20_000;

/** Good for 16 million of them. */
const addressOf = (i) => `20.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;

/** `ask()` answers whether the front let the request pass. */
function openClient(port, i) {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  let text = "";
  let waiting;
  const settle = (how, value) => {
    const asked = waiting;
    waiting = undefined;
    asked?.[how](value);
  };
  const fail = (why) => settle("reject", new Error(`${addressOf(i)}: ${why}`));
  socket.setEncoding("latin1").on("data", (piece) => {
    text += piece;
    const end = text.indexOf(END);
    if (end < 0) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end + 2));
    if (length === null) return fail(`an answer that does not say how long it is:\n${text}`);
    const body = text.slice(end + END.length);
    if (body.length < Number(length[1])) return;
    const status = text.slice(9, 12);
    text = "";
    if (status === "200") settle("resolve", true);
    else if (status === "429" && body === REFUSAL) settle("resolve", false);
    else fail(`answered ${status}: ${body.slice(0, 200)}`);
  });
  socket.once("error", ({ message }) => fail(message));
  socket.once("close", () => fail("its connection was closed"));
  socket.write(`PROXY TCP4 ${addressOf(i)} 127.0.0.1 40000 ${port}\r\n`);
  return {
    ask: (request = REQUEST) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}

/** So many requests, one after the other, that all pass. */
async function ready(client, passes) {
  for (let i = 0; i < passes; i++)
    if (!(await client.ask())) throw new Error(`a client was refused at request ${i + 1}: too early`);
}

/**
 * The request that crosses, then others until one is refused. From the sending of the first to the refusal in hand. Whoever passed in
 * between has leaked, unless he only probed.
 */
async function cross(client, { request, pauseMs }) {
  const sentAt = performance.now();
  await ready(client, 1);
  let leaked = 0;
  for (;;) {
    const isPassed = await client.ask(request);
    const ms = performance.now() - sentAt;
    if (!isPassed) return { ms, leaked };
    if (ms > GIVE_UP_MS) throw new Error("a client that crossed was never refused");
    if (request === REQUEST) leaked++;
    await pause(pauseMs);
  }
}

function summary(crossings) {
  const times = crossings.map(({ ms }) => ms);
  const leaked = crossings.reduce((sum, each) => sum + each.leaked, 0) / crossings.length;
  return { p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99), maxMs: Math.max(...times), leaked };
}

/** How many requests pass when each is given time to be found out. On a busy machine one may leak: the fewest count. */
async function patience({ port, from, count }) {
  const passes = async (client) => {
    for (let passed = 0; passed < 1000; passed++) {
      if (!(await client.ask())) return passed;
      await pause(100);
    }
    throw new Error("nobody is ever refused");
  };
  const clients = Array.from({ length: count }, (_, i) => openClient(port, from + i));
  const passed = await Promise.all(clients.map(passes));
  for (const client of clients) client.close();
  return Math.min(...passed);
}

/** One after the other. The one that crosses is sent when it is quiet. */
async function oneByOne({ port, from, count, passes }) {
  const crossings = [];
  for (let i = from; i < from + count; i++) {
    const client = openClient(port, i);
    await ready(client, passes - 1);
    await pause(20);
    crossings.push(await cross(client, { request: REQUEST, pauseMs: 1 }));
    client.close();
  }
  return summary(crossings);
}

/**
 * All at the same time. Were each to ask until it is refused, so many requests more would be measured too: every fifth does, by probes,
 * and the others are seen to be refused once those are.
 */
async function atOnce({ port, from, count, passes }) {
  const clients = Array.from({ length: count }, (_, i) => openClient(port, from + i));
  await Promise.all(clients.map((client) => ready(client, passes - 1)));
  await pause(300);
  const others = clients.filter((_, i) => i % 5 !== 0);
  const asking = clients.filter((_, i) => i % 5 === 0);
  const [crossings] = await Promise.all([
    Promise.all(asking.map((client) => cross(client, { request: PROBE, pauseMs: 20 }))),
    Promise.all(others.map((client) => ready(client, 1))),
  ]);
  await Promise.all(others.map((client) => refused(client)));
  for (const client of clients) client.close();
  return summary(crossings);
}

async function refused(client) {
  const askedAt = performance.now();
  while (await client.ask(PROBE)) {
    if (performance.now() - askedAt > GIVE_UP_MS) throw new Error("a client that crossed was never refused");
    await pause(20);
  }
}

answerParent({ patience, oneByOne, atOnce });
