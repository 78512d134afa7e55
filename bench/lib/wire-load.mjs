// A contestant's process is the proxy or service; the load, with the app behind a proxy, is another.
import { request as httpRequest } from "node:http";
import { startChild } from "./child.mjs";
import { pinMeasured } from "./pinning.mjs";
import { answers, requests } from "./wire-requests.mjs";

const SOCKETS = 64;

/** Tidegate's answers have these; without them nothing would have been counted. */
const LIMIT_HEADERS = ["ratelimit", "ratelimit-policy"];

/** The app alone, in a process of its own. */
export const startUpstream = () => listenIn(startChild("./upstream-process.mjs", "the upstream's process"));

async function listenIn(ask) {
  const port = await ask({ do: "listen" });
  return { port, connections: () => ask({ do: "connections" }) };
}

/** A load on a service. */
export const startLoad = (port) => loadOf(startLoader(), port);

const startLoader = () => startChild("./wire-loader.mjs", "the load's process");

/**
 * `flood(request, ms)`, `pace(request, ms, rate, isAwake)`, `crowd(options)`, `stream(options)`: see wire-loader.mjs. `on(port)`
 * is the same process's load on another port.
 */
async function loadOf(ask, port) {
  await ask({ do: "open", port, sockets: SOCKETS });
  return {
    flood: (request, ms) => ask({ do: "flood", port, request, ms }),
    pace: (request, ms, rate, isAwake) => ask({ do: "pace", port, request, ms, rate, isAwake }),
    crowd: (options) => ask({ do: "crowd", port, ...options }),
    stream: (options) => ask({ do: "stream", port, ...options }),
    on: (other) => loadOf(ask, other),
  };
}

/** Until V8 has compiled what there is to compile. */
export async function warmUpOn(load, request, sampleMs) {
  for (let i = 0; i < 3; i++) await load.flood(request, Math.max(500, sampleMs));
}

/** One of the load's requests, asked by node:http: status, headers and text of the answer. */
export function askOnce(port, name) {
  const [head, body] = requests[name].split("\r\n\r\n");
  const [line, ...lines] = head.split("\r\n");
  const [method, path] = line.split(" ");
  const headers = Object.fromEntries(lines.map((each) => each.split(/: (.*)/)));
  return new Promise((resolve, reject) => {
    const req = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent: false }, (res) => {
      let text = "";
      res.setEncoding("latin1").on("data", (piece) => (text += piece));
      res.on("end", () => resolve({ status: res.statusCode, headers: res.headers, text }));
    });
    req.once("error", reject);
    req.end(body);
  });
}

/** What does not answer as it should is not measured. */
export async function verifyAnswer(port, name, { expected, isLimited }) {
  const { status, headers, text } = await askOnce(port, name);
  if (status !== 200) throw new Error(`answers ${status}: ${text.slice(0, 200)}`);
  if (expected !== undefined && text !== expected)
    throw new Error(`does not pass the answer on: ${text.slice(0, 80)}`);
  if (isLimited && !LIMIT_HEADERS.every((header) => header in headers))
    throw new Error("has no RateLimit headers, so nothing was counted");
  return text;
}

/** CPU time of this process, in µs, or what the contestant says its own took. */
export function cpuMicrosOf(contestant) {
  if (contestant.cpuMicros !== undefined) return contestant.cpuMicros();
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** A contestant with its upstream and its load, which are one process, found to be in order. It is alone on its core. */
export async function setupProxy({ make, contestant, names }) {
  const loader = startLoader();
  const upstream = await listenIn(loader);
  pinMeasured(process.pid);
  const proxy = await make({ upstream: upstream.port });
  const isLimited = contestant.startsWith("tidegate.");
  for (const name of names) await verifyAnswer(proxy.port, name, { expected: answers[name], isLimited });
  return { upstream, proxy, load: await loadOf(loader, proxy.port) };
}

/** A proxy that opens a connection for each request would be measured at its worst. */
export async function verifyKept(upstream) {
  const opened = await upstream.connections();
  if (opened > SOCKETS * 4) throw new Error(`opened ${opened} connections to the upstream: it keeps none`);
}
