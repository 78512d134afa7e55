// The load's own process: raw sockets that stay open, one request at a time on each, every socket another client.
import { connect } from "node:net";
import { performance } from "node:perf_hooks";
import { BODY } from "./settings.mjs";
import { quantile } from "./stats.mjs";

const REQUEST = Buffer.from(
  [
    "GET /api/items?page=2 HTTP/1.1",
    "Host: api.example.com",
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Accept: application/json",
    "Accept-Language: en-US,en;q=0.5",
    "Accept-Encoding: gzip, deflate, br",
    "Cookie: session=5f1d7e0c9b3a4d28",
    "\r\n",
  ].join("\r\n"),
);
const END = BODY.charCodeAt(BODY.length - 1);
const STATUS_AT = "HTTP/1.1 ".length;
const TWO = "2".charCodeAt(0);

let lanes = [];
let onAnswer;

/** One socket. `since` is when its request was due. */
function openLane(port, i) {
  return new Promise((resolve, reject) => {
    let isWhole = true;
    const lane = {
      since: 0,
      ask(since) {
        lane.since = since;
        socket.write(REQUEST);
      },
    };
    function read(size, buffer) {
      if (isWhole && buffer[STATUS_AT] !== TWO) throw new Error(buffer.latin1Slice(0, size));
      isWhole = buffer[size - 1] === END;
      if (isWhole) onAnswer(lane, performance.now());
      return true;
    }
    const socket = connect({
      host: "127.0.0.1",
      port,
      // Linux owns all of 127/8: there every socket comes from an address of its own.
      ...(process.platform === "linux" && { localAddress: `127.0.${1 + (i >> 7)}.${1 + (i & 127)}` }),
      noDelay: true,
      onread: { buffer: Buffer.allocUnsafe(16_384), callback: read },
    });
    socket.once("error", reject);
    socket.once("connect", () => resolve(lane));
    socket.once("close", () => process.exit(1));
  });
}

function result(latencies, started) {
  const elapsed = performance.now() - started;
  return {
    requests: latencies.length,
    rate: (latencies.length * 1000) / elapsed,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
  };
}

/**
 * Every socket asks again as soon as it is answered: as much as the server can do. With `isAwake` the load never sleeps:
 * each answer to a sleeper has the server wake its core, up to 2 µs each, and the slower a server is the more it has to.
 */
function flood({ ms, isAwake }) {
  return new Promise((resolve) => {
    const latencies = [];
    const started = performance.now();
    let asking = lanes.length;
    onAnswer = (lane, at) => {
      latencies.push(at - lane.since);
      if (at < started + ms) lane.ask(at);
      else if (--asking === 0) resolve(result(latencies, started));
    };
    const stayAwake = () => {
      if (asking > 0) setImmediate(stayAwake);
    };
    if (isAwake) stayAwake();
    for (const lane of lanes) lane.ask(started);
  });
}

/**
 * So many a second, however slowly they are answered; what has to wait for a free socket has waited. Times are
 * noted in arrays made before, so that the load's own garbage shows less as latency.
 */
function pace(ms, rate) {
  return new Promise((resolve) => {
    const total = Math.max(1, Math.floor((ms * rate) / 1000));
    const latencies = new Float64Array(total);
    const dueAt = new Float64Array(total);
    const idle = [...lanes];
    const started = performance.now();
    let due = 0;
    let asked = 0;
    let answered = 0;
    const ask = (lane) => lane.ask(dueAt[asked++]);
    onAnswer = (lane, at) => {
      latencies[answered++] = at - lane.since;
      if (asked < due) ask(lane);
      else idle.push(lane);
      if (answered < total) return;
      clearInterval(timer);
      resolve(result(latencies, started));
    };
    const timer = setInterval(() => {
      const now = performance.now();
      for (const until = Math.min(total, ((now - started) * rate) / 1000); due < until; due++)
        dueAt[due] = now;
      while (asked < due && idle.length > 0) ask(idle.pop());
    }, 1);
  });
}

const acts = {
  async open({ port, sockets }) {
    lanes = await Promise.all(Array.from({ length: sockets }, (_, i) => openLane(port, i)));
  },
  flood,
  pace: ({ ms, rate }) => pace(ms, rate),
};

process.on("message", async (message) => process.send({ result: await acts[message.do](message) }));
process.on("disconnect", () => process.exit(0));
