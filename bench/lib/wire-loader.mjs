// The load's own process: raw sockets that stay open, one request at a time on each, every socket another client. Unlike
// http-loader.mjs it can send several kinds of requests, and reads how long an answer is. It is the app behind a proxy too:
// where both share a core, two processes would wait for each other, and a proxy for both.
import { connect } from "node:net";
import { performance } from "node:perf_hooks";
import { answerParent } from "./child.mjs";
import { upstreamActs } from "./http-upstream.mjs";
import { quantile } from "./stats.mjs";
import { getFrom, requests } from "./wire-requests.mjs";

const BYTES = Object.fromEntries(
  Object.entries(requests).map(([name, text]) => [name, Buffer.from(text, "latin1")]),
);
const END = Buffer.from("\r\n\r\n");
const STATUS_AT = "HTTP/1.1 ".length;

/** The lanes to each port, and those in use. */
const fleets = new Map();
let lanes = [];
let onAnswer;

function fail(why) {
  console.error(`load: ${why}`);
  process.exit(1);
}

/** One socket. `since` is when its request was due. */
function openLane(port, i) {
  return new Promise((resolve, reject) => {
    let left = 0;
    let begun;
    let status = 0;
    let isBusy = false;
    const lane = {
      since: 0,
      isOpen: true,
      ask(bytes, since) {
        lane.since = since;
        isBusy = true;
        socket.write(bytes);
      },
    };
    function readHead(bytes) {
      const end = bytes.indexOf(END);
      if (end < 0) {
        begun = Buffer.from(bytes);
        return false;
      }
      begun = undefined;
      const head = bytes.latin1Slice(0, end);
      status = Number(head.slice(STATUS_AT, STATUS_AT + 3));
      const length = /\r\ncontent-length: *(\d+)/i.exec(head);
      if (length === null) fail(`an answer that does not say how long it is:\n${head}`);
      left = Number(length[1]) - (bytes.length - end - END.length);
      return true;
    }
    function read(size, buffer) {
      if (left > 0) left -= size;
      else {
        const bytes = buffer.subarray(0, size);
        if (!readHead(begun === undefined ? bytes : Buffer.concat([begun, bytes]))) return true;
      }
      if (left > 0) return true;
      isBusy = false;
      onAnswer(lane, performance.now(), status);
      return true;
    }
    const socket = connect({
      host: "127.0.0.1",
      port,
      // Linux owns all of 127/8: there every socket comes from an address of its own.
      ...(process.platform === "linux" && { localAddress: `127.0.${1 + (i >> 7)}.${1 + (i & 127)}` }),
      noDelay: true,
      onread: { buffer: Buffer.allocUnsafe(65_536), callback: read },
    });
    socket.once("connect", () => resolve(lane));
    socket.once("error", (error) => (isBusy ? fail(error.message) : reject(error)));
    socket.once("close", () => {
      lane.isOpen = false;
      if (isBusy) fail("a connection was closed in the middle of an answer");
    });
  });
}

/** All lanes to a port open; those that were closed while they had nothing to do are opened again. */
async function openLanes(port, sockets) {
  const before = fleets.get(port) ?? Array.from({ length: sockets }, () => undefined);
  lanes = await Promise.all(before.map((lane, i) => (lane?.isOpen ? lane : openLane(port, i))));
  fleets.set(port, lanes);
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

function insist(status, expected = 200) {
  if (status !== expected) fail(`status ${status} instead of ${expected}`);
}

/** Every socket asks again as soon as it is answered: as much as the server can do. */
function flood({ request, ms }) {
  return new Promise((resolve) => {
    const bytes = BYTES[request];
    const latencies = [];
    const started = performance.now();
    let asking = lanes.length;
    onAnswer = (lane, at, status) => {
      insist(status);
      latencies.push(at - lane.since);
      if (at < started + ms) lane.ask(bytes, at);
      else if (--asking === 0) resolve(result(latencies, started));
    };
    for (const lane of lanes) lane.ask(bytes, started);
  });
}

/**
 * So many a second, however slowly they are answered; what has to wait for a free socket has waited. Times are noted in
 * arrays made before, so that the load's own garbage shows less as latency. With `isAwake` this process never sleeps: on a
 * virtual machine each waking costs more than an answer, and what is late here would be told of whoever answers.
 */
function pace({ request, ms, rate, isAwake }) {
  return new Promise((resolve) => {
    const bytes = BYTES[request];
    const total = Math.max(1, Math.floor((ms * rate) / 1000));
    const latencies = new Float64Array(total);
    const dueAt = new Float64Array(total);
    const idle = [...lanes];
    const started = performance.now();
    let due = 0;
    let asked = 0;
    let answered = 0;
    const ask = (lane) => lane.ask(bytes, dueAt[asked++]);
    onAnswer = (lane, at, status) => {
      insist(status);
      latencies[answered++] = at - lane.since;
      if (asked < due) ask(lane);
      else idle.push(lane);
      if (answered < total) return;
      clearInterval(timer);
      resolve(result(latencies, started));
    };
    const askWhatIsDue = () => {
      const now = performance.now();
      for (const until = Math.min(total, ((now - started) * rate) / 1000); due < until; due++)
        dueAt[due] = now;
      while (asked < due && idle.length > 0) ask(idle.pop());
    };
    const stayAwake = () => {
      askWhatIsDue();
      if (answered < total) setImmediate(stayAwake);
    };
    const timer = isAwake ? undefined : setInterval(askWhatIsDue, 1);
    if (isAwake) stayAwake();
  });
}

/** One request from each client in [from, to), `step` apart; all have to be answered with this status. */
function crowd({ from, to, step = 1, status: expected }) {
  return new Promise((resolve) => {
    let next = from;
    let asking = 0;
    const send = (lane) => {
      if (next >= to) {
        if (asking === 0) resolve();
        return;
      }
      asking++;
      lane.ask(Buffer.from(getFrom(next), "latin1"), 0);
      next += step;
    };
    onAnswer = (lane, _at, status) => {
      insist(status, expected);
      asking--;
      send(lane);
    };
    for (const lane of lanes) send(lane);
  });
}

/** So many a second from clients in [from, to) in turn, allowed or refused. */
function stream({ from, to, rate, ms }) {
  return new Promise((resolve) => {
    const total = Math.floor((ms * rate) / 1000);
    const idle = [...lanes];
    const started = performance.now();
    let asked = 0;
    let answered = 0;
    onAnswer = (lane, _at, status) => {
      if (status !== 200 && status !== 429) fail(`status ${status}`);
      idle.push(lane);
      if (++answered < total) return;
      clearInterval(timer);
      resolve();
    };
    const timer = setInterval(() => {
      const due = Math.min(total, ((performance.now() - started) * rate) / 1000);
      for (; asked < due && idle.length > 0; asked++)
        idle.pop().ask(Buffer.from(getFrom(from + (asked % (to - from))), "latin1"), 0);
    }, 1);
  });
}

const onLanes = (act) => async (message) => {
  await openLanes(message.port);
  return act(message);
};

answerParent({
  ...upstreamActs,
  open: ({ port, sockets }) => openLanes(port, sockets),
  flood: onLanes(flood),
  pace: onLanes(pace),
  crowd: onLanes(crowd),
  stream: onLanes(stream),
});
