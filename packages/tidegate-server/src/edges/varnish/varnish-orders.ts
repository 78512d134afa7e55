import { Agent, type IncomingMessage, request } from "node:http";
import { EdgeError } from "../../edge.js";
import { printableStart } from "../../printable.js";
import type { Secret } from "../../secret.js";

export interface VarnishOrdersOptions {
  /** The edge, for messages. */
  readonly name: string;
  readonly url: string;
  readonly token?: Secret;
}

/** `"unknown"`: this VCL looks up no such key. `"kept"`: somebody put an entry without an end there, which stays. */
export type OrderOutcome = "done" | "kept" | "unknown";

/** `marker` is gone when the table is, `writer` says who wrote last. */
export type BesideName = "marker" | "writer" | "mode";

/** What the listener for orders is told, one key at a time. Throws when it does not answer, or not as our VCL does. */
export interface VarnishOrders {
  /** Undefined: nothing stands there. */
  get(key: string, signal: AbortSignal): Promise<string | undefined>;
  /** `until` in whole seconds since the epoch. */
  put(key: string, until: number, signal: AbortSignal): Promise<OrderOutcome>;
  remove(key: string, signal: AbortSignal): Promise<OrderOutcome>;
  /** What stands beside the entries. */
  set(name: BesideName, value: string, signal: AbortSignal): Promise<OrderOutcome>;
  /** Which keys the VCL looks up, as it last said: `sha256 64`. */
  readonly takes: string | undefined;
  close(): void;
}

/** Orders under way at once. More make nothing faster: Varnish answers within 0.1 ms. */
export const ordersAtOnce = 8;
const patienceMs = 5_000;
const outcomes: Readonly<Record<number, OrderOutcome>> = { 200: "done", 409: "kept", 400: "unknown" };

export function varnishOrders({ name, url, token }: VarnishOrdersOptions): VarnishOrders {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const agent = new Agent({ keepAlive: true, maxSockets: ordersAtOnce });
  const headers = {
    "Tidegate-Only": "timed",
    ...(token && { Authorization: `Bearer ${token.reveal()}` }),
  };
  let takes: string | undefined;

  function order(method: string, path: string, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const fail = (error: NodeJS.ErrnoException) => {
        if (signal.aborted) return reject(signal.reason);
        // Varnish closes what was idle for some seconds, maybe just now. An order may be given twice.
        const wasClosed = error.code === "ECONNRESET" || error.code === "EPIPE";
        if (asked.reusedSocket && wasClosed) return order(method, path, signal).then(resolve, reject);
        reject(unreached(name, `${method} ${path} was not answered: ${printableStart(error.message, 200)}.`));
      };
      const asked = request({
        host,
        port: port || 80,
        method,
        path: `/tidegate/${path}`,
        headers,
        agent,
        signal,
        timeout: patienceMs,
      });
      asked.once("timeout", () => asked.destroy(new Error(`silent for ${patienceMs} ms`)));
      asked.once("error", fail);
      asked.once("response", (answer) => {
        answer.once("error", fail);
        answer.once("end", () => resolve(answer));
        answer.resume();
      });
      asked.end();
    });
  }

  async function told(method: string, path: string, signal: AbortSignal): Promise<IncomingMessage> {
    const answer = await order(method, path, signal);
    const { statusCode: status = 0 } = answer;
    if (status === 401 || status === 403) throw denied(name, status);
    if (status !== 404 && outcomes[status] === undefined)
      throw unreached(name, `${method} ${path} was answered ${status}.`);
    return answer;
  }

  async function change(method: string, path: string, signal: AbortSignal): Promise<OrderOutcome> {
    const { statusCode = 0 } = await told(method, path, signal);
    const outcome = outcomes[statusCode];
    if (outcome === undefined) throw notOurs(name);
    return outcome;
  }

  return {
    async get(key, signal) {
      const { headers: said, statusCode } = await told("GET", key, signal);
      const { "tidegate-takes": known, "tidegate-value": value } = said;
      if (typeof known !== "string") throw notOurs(name);
      takes = known;
      return statusCode === 200 && typeof value === "string" ? value : undefined;
    },
    put: (key, until, signal) => change("PUT", `${key}?until=${until}`, signal),
    set: (name, value, signal) => change("PUT", `${name}?value=${value}`, signal),
    remove: (key, signal) => change("DELETE", key, signal),
    get takes() {
      return takes;
    },
    close: () => agent.destroy(),
  };
}

function unreached(edge: string, message: string): EdgeError {
  return new EdgeError(
    "TG_EDGE_UNREACHED",
    edge,
    message,
    "Nothing is known of what was sent: the edge is read again and set right. See that Varnish runs, and that `url` is its listener for orders.",
    true,
  );
}

function denied(edge: string, status: number): EdgeError {
  return new EdgeError(
    "TG_EDGE_DENIED",
    edge,
    `Varnish takes no orders from here (${status}).`,
    "Render the VCL with this machine's address in `control`, and with the same token as in the edge's settings.",
    false,
  );
}

function notOurs(edge: string): EdgeError {
  return new EdgeError(
    "TG_EDGE_SETUP",
    edge,
    "whoever listens there does not take orders.",
    "Include what `tidegate edge render varnish` writes, and let `url` be the listener of that name (`-a tidegate=127.0.0.1:6091`).",
    false,
  );
}
