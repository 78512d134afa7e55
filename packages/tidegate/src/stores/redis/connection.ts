import { ConfigError, StoreError } from "../../errors.js";
import { script, scriptSha } from "./script.generated.js";

/** What the store needs of a client: run the script where these keys live, send a command, say when a connection broke. */
export interface Connection {
  readonly isCluster: boolean;
  run(keys: readonly string[], input: Buffer, ids: readonly string[]): Promise<Buffer>;
  command(args: readonly string[], key?: string): Promise<unknown>;
  /** Calls back whenever commands in flight may be sent again by the client itself. */
  onBreak(listener: () => void): void;
}

type Sent = (string | Buffer)[];
type Send = (args: Sent, key: string | undefined) => Promise<unknown>;

/** Clients are told apart by what they can do, never by a class name. */
interface ClientAbilities {
  /** ioredis */
  callBuffer?: (command: string, ...args: Sent) => Promise<unknown>;
  isCluster?: boolean;
  nodes?: (role?: string) => unknown[];
  on?: (event: string, listener: (arg: unknown) => void) => unknown;
  /** node-redis 5 and 6 */
  sendCommand?: (...args: unknown[]) => Promise<unknown>;
  withTypeMapping?: unknown;
  masters?: unknown;
}

/** A client of ioredis 5/6 or node-redis 5/6, for a single server or a cluster. */
export type RedisClient = object;

export function connectionTo(client: RedisClient): Connection {
  const able = (client ?? {}) as ClientAbilities;
  if (typeof able.callBuffer === "function") {
    const isCluster = able.isCluster === true;
    return connection(ioredisSend(able), isCluster, (listener) => listenForBreaks(able, isCluster, listener));
  }
  if (typeof able.sendCommand === "function" && typeof able.withTypeMapping === "function") {
    const isCluster = able.masters !== undefined;
    // node-redis never sends a command again once it was written: nothing to listen for.
    return connection(nodeRedisSend(able, isCluster), isCluster, () => {});
  }
  throw new ConfigError(
    "TG_REDIS_CLIENT",
    "redisStore.client",
    "this is not a Redis client Tidegate can use.",
    "Hand in a client of ioredis 5/6 (new Redis(), new Cluster()) or of node-redis 5/6 (createClient(), createCluster(), connected).",
  );
}

function connection(send: Send, isCluster: boolean, onBreak: Connection["onBreak"]): Connection {
  return {
    isCluster,
    onBreak,
    command: (args, key) => send([...args], key),
    async run(keys, input, ids) {
      const args: Sent = ["EVALSHA", scriptSha, String(keys.length)];
      for (const key of keys) args.push(key);
      args.push(input);
      for (const id of ids) args.push(id);
      try {
        return asBytes(await send(args, keys[0]));
      } catch (error) {
        if (!isNoScript(error)) throw error;
        // Nothing ran, so nothing was counted: the whole text goes along once, and Redis knows it from then on.
        return asBytes(await send(["EVAL", script, ...args.slice(2)], keys[0]));
      }
    },
  };
}

function ioredisSend(client: ClientAbilities): Send {
  const callBuffer = client.callBuffer as NonNullable<ClientAbilities["callBuffer"]>;
  return ([command, ...args]) => callBuffer.call(client, command as string, ...args);
}

/** 36 is RESP's `$`: replies come as bytes. Without `timeout: 0` node-redis 6 makes an AbortSignal per command. */
const bytesWanted = { typeMapping: { 36: Buffer }, timeout: 0 };

function nodeRedisSend(client: ClientAbilities, isCluster: boolean): Send {
  const sendCommand = client.sendCommand as NonNullable<ClientAbilities["sendCommand"]>;
  return isCluster
    ? (args, key) => sendCommand.call(client, key, false, args, bytesWanted)
    : (args) => sendCommand.call(client, args, bytesWanted);
}

const breakListeners = new WeakMap<object, Set<() => void>>();

/** ioredis sends unanswered commands again after a reconnect; a cluster does so per node. One listener a client, however many stores. */
function listenForBreaks(client: ClientAbilities, isCluster: boolean, listener: () => void): void {
  if (typeof client.on !== "function") return;
  const known = breakListeners.get(client);
  if (known !== undefined) {
    known.add(listener);
    return;
  }
  const listeners = new Set([listener]);
  breakListeners.set(client, listeners);
  const tellAll = () => {
    for (const tell of listeners) tell();
  };
  client.on("close", tellAll);
  if (!isCluster) return;
  const watch = (node: unknown) => (node as ClientAbilities).on?.("close", tellAll);
  for (const node of client.nodes?.() ?? []) watch(node);
  client.on("+node", watch);
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
}

function asBytes(reply: unknown): Buffer {
  if (Buffer.isBuffer(reply)) return reply;
  throw new StoreError(
    "TG_STORE_REPLY",
    "redis",
    "the script's reply is not bytes.",
    "Something between Tidegate and Redis changes replies.",
    {
      transient: false,
    },
  );
}
