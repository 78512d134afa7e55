import type { RedisClient } from "../connection.js";
import { within } from "./timing.js";

/** The servers that take writes: one, or all masters of a cluster as its client knows them now. */
export interface Masters {
  /** What the client puts before every key by itself. */
  readonly keyPrefix: string;
  /** True when the client sends reads elsewhere, where a change may not have arrived yet. */
  readonly readsReplicas: boolean;
  now(): readonly Master[];
}

export interface Master {
  /** Tells one master from another as long as it lives. */
  readonly id: string;
  /** Sends a command that names no key on the user's own connection. */
  command(args: readonly string[]): Promise<unknown>;
  /** Opens a connection of our own, of the same kind. */
  link(): Promise<Link>;
}

/** A connection of our own. It does not come back once lost, and keeps no process alive. */
export interface Link {
  command(args: readonly string[]): Promise<unknown>;
  subscribe(channel: string, heard: (message: unknown) => void): Promise<void>;
  /** Resolves, with the reason, when the connection is gone. */
  readonly lost: Promise<unknown>;
  close(): void;
}

/** ioredis 5 and 6 */
interface Ioredis {
  readonly isCluster?: boolean;
  readonly options: IoredisOptions;
  nodes(role: "master"): Ioredis[];
  callBuffer(command: string, ...args: string[]): Promise<unknown>;
  duplicate(overrides: object): Ioredis;
  on(event: string, listener: (...args: never[]) => void): unknown;
  connect(): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  readonly stream?: { unref?(): void };
  disconnect(): void;
}

interface IoredisOptions {
  readonly keyPrefix?: string;
  readonly scaleReads?: unknown;
  readonly host?: string;
  readonly port?: number;
}

/** node-redis 5 and 6 */
interface NodeRedis {
  readonly options?: { readonly socket?: object };
  sendCommand(args: readonly string[], options?: object): Promise<unknown>;
  duplicate(overrides: object): NodeRedis;
  on(event: string, listener: (...args: never[]) => void): unknown;
  connect(): Promise<unknown>;
  subscribe(channel: string, heard: (message: unknown) => void, asBytes: true): Promise<unknown>;
  readonly isOpen: boolean;
  unref(): void;
  destroy(): void;
}

interface NodeRedisCluster {
  readonly masters: readonly { readonly address: string }[];
  nodeClient(master: { readonly address: string }): NodeRedis | Promise<NodeRedis>;
}

const connectWithinMs = 2000;

/** Asks for a client that `connectionTo` took: told apart by what they can do. */
export function mastersOf(client: RedisClient): Masters {
  if ("callBuffer" in client) return ioredisMasters(client as Ioredis);
  const cluster = client as NodeRedisCluster;
  if (cluster.masters === undefined) {
    const only = nodeRedisMaster("single", async () => client as NodeRedis);
    return { keyPrefix: "", readsReplicas: false, now: () => [only] };
  }
  return {
    keyPrefix: "",
    readsReplicas: false,
    now: () =>
      cluster.masters.map((master) =>
        nodeRedisMaster(master.address, async () => await cluster.nodeClient(master)),
      ),
  };
}

function ioredisMasters(client: Ioredis): Masters {
  const { keyPrefix = "", scaleReads = "master" } = client.options;
  const only = ioredisMaster("single", client);
  const addressOf = ({ options: { host, port } }: Ioredis) => `${host}:${port}`;
  return {
    keyPrefix,
    readsReplicas: scaleReads !== "master",
    now: () =>
      client.isCluster ? client.nodes("master").map((node) => ioredisMaster(addressOf(node), node)) : [only],
  };
}

function ioredisMaster(id: string, client: Ioredis): Master {
  return {
    id,
    command: ([command, ...args]) => client.callBuffer(command as string, ...args),
    link: () => ioredisLink(client),
  };
}

/** RESP 2: there invalidations reach a subscriber in the same form on every client. */
async function ioredisLink(client: Ioredis): Promise<Link> {
  const own = client.duplicate({
    protocol: 2,
    replyMapping: "legacy",
    keyPrefix: "",
    lazyConnect: true,
    enableReadyCheck: false,
    autoResubscribe: false,
    retryStrategy: () => null,
    reconnectOnError: null,
  });
  let reason: unknown;
  own.on("error", (error) => {
    reason = error;
  });
  const lost = new Promise((resolve) => own.on("end", () => resolve(reason)));
  const close = () => own.disconnect();
  await within(connectWithinMs, own.connect()).catch((error) => {
    close();
    throw reason ?? error;
  });
  own.stream?.unref?.();
  return {
    lost,
    close,
    command: ([command, ...args]) => own.callBuffer(command as string, ...args),
    async subscribe(channel, heard) {
      own.on("messageBuffer", (_channel: unknown, message: unknown) => heard(message));
      await own.subscribe(channel);
    },
  };
}

/** Strings as bytes (36 is RESP's `$`), whatever the client is set to give; see `connection.ts`. */
const bytesWanted = { typeMapping: { 36: Buffer }, timeout: 0 };

function nodeRedisMaster(id: string, client: () => Promise<NodeRedis>): Master {
  return {
    id,
    command: async (args) => (await client()).sendCommand([...args], bytesWanted),
    link: async () => nodeRedisLink(await client()),
  };
}

async function nodeRedisLink(client: NodeRedis): Promise<Link> {
  const own = client.duplicate({
    RESP: 2,
    socket: { ...client.options?.socket, reconnectStrategy: false },
    commandOptions: undefined,
    clientSideCache: undefined,
    emitInvalidate: false,
    maintNotifications: "disabled",
    disableOfflineQueue: false,
  });
  const lost = new Promise((resolve) => own.on("error", resolve));
  const close = () => {
    if (own.isOpen) own.destroy();
  };
  await within(connectWithinMs, own.connect()).catch((error) => {
    close();
    throw error;
  });
  own.unref();
  return {
    lost,
    close,
    command: (args) => own.sendCommand([...args], bytesWanted),
    subscribe: async (channel, heard) => void (await own.subscribe(channel, heard, true)),
  };
}
