import { EdgeError } from "../../edge.js";
import { printableStart } from "../../printable.js";
import type { Secret } from "../../secret.js";
import { AlienAnswer, type Answer, LineClosed, type OrderLine, openOrderLine } from "./order-line.js";

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

/**
 * What the listener for orders is told, one key at a time. Throws when it does not answer, or not as our VCL does. Once the signal is
 * aborted nothing more is sent; what was sent is still waited for.
 */
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

/** Orders go one behind the other on a few connections, so that hundreds cost Varnish and us few wakes. */
const lines = 4;
const ordersPerLine = 16;
/** Orders under way at once. */
export const ordersAtOnce = lines * ordersPerLine;
const patienceMs = 3_000;
const outcomes: Readonly<Record<number, OrderOutcome>> = { 200: "done", 409: "kept", 400: "unknown" };

export function varnishOrders({ name, url, token }: VarnishOrdersOptions): VarnishOrders {
  const { hostname, host: authority, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const authorization = token === undefined ? "" : `Authorization: Bearer ${token.reveal()}\r\n`;
  const head = `HTTP/1.1\r\nHost: ${authority}\r\nTidegate-Only: timed\r\n${authorization}\r\n`;
  let open: OrderLine[] = [];
  let takes: string | undefined;

  /** The first one with room, so that one order after the other needs one connection. */
  function line(): OrderLine {
    open = open.filter(({ isOpen }) => isOpen);
    const free = open.find(({ underWay }) => underWay < ordersPerLine);
    if (free !== undefined) return free;
    if (open.length >= lines) return open.reduce((a, b) => (b.underWay < a.underWay ? b : a));
    const another = openOrderLine({ host, port: Number(port || 80), patienceMs });
    open.push(another);
    return another;
  }

  async function order(method: string, path: string, signal: AbortSignal, retries = lines): Promise<Answer> {
    signal.throwIfAborted();
    try {
      return await line().send(`${method} /tidegate/${path} ${head}`);
    } catch (error) {
      signal.throwIfAborted();
      // Varnish closes what was idle for some seconds, maybe just now, and maybe all of them. An order may be given twice.
      if (retries > 0 && error instanceof LineClosed) return order(method, path, signal, retries - 1);
      if (error instanceof AlienAnswer) throw notOurs(name);
      const why = error instanceof Error ? error.message : String(error);
      throw unreached(name, `${method} ${path} was not answered: ${printableStart(why, 200)}.`);
    }
  }

  async function told(method: string, path: string, signal: AbortSignal): Promise<Answer> {
    const answer = await order(method, path, signal);
    const { status } = answer;
    if (status === 401 || status === 403) throw denied(name, status);
    if (status !== 404 && outcomes[status] === undefined)
      throw unreached(name, `${method} ${path} was answered ${status}.`);
    return answer;
  }

  async function change(method: string, path: string, signal: AbortSignal): Promise<OrderOutcome> {
    const { status } = await told(method, path, signal);
    const outcome = outcomes[status];
    if (outcome === undefined) throw notOurs(name);
    return outcome;
  }

  return {
    async get(key, signal) {
      const answer = await told("GET", key, signal);
      const known = answer.header("tidegate-takes");
      if (known === undefined) throw notOurs(name);
      takes = known;
      return answer.status === 200 ? answer.header("tidegate-value") : undefined;
    },
    put: (key, until, signal) => change("PUT", `${key}?until=${until}`, signal),
    set: (name, value, signal) => change("PUT", `${name}?value=${value}`, signal),
    remove: (key, signal) => change("DELETE", key, signal),
    get takes() {
      return takes;
    },
    close() {
      for (const each of open) each.close();
    },
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
