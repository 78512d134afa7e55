import { createClient, createCluster } from "@redis/client";
import { type Directory, memoryStore, type Store, TidegateError } from "tidegate";
import { memcachedStore } from "tidegate/memcached";
import { redisStore } from "tidegate/redis";
import type { Log } from "./log.js";
import type { Secret } from "./secret.js";
import type { StoreSettings } from "./settings.js";

export type RedisConnection = ReturnType<typeof createClient> | ReturnType<typeof createCluster>;

/** The store of counts, by its name in the settings. */
export interface Counts {
  readonly store: Store;
  /** Where there is one: policy versions, lists and audit then live beside the counts. */
  readonly redis?: { readonly client: RedisConnection; readonly prefix: string; openDirectory(): Directory };
  /** False when it was out of reach at the start. */
  readonly isThere: boolean;
  close(): Promise<void>;
}

/** A Redis that refuses may just be starting: it is given this long. */
const refusedMs = 500;

/** Waits for Redis at most so long; then it is tried on beside the traffic. */
export async function openCounts(settings: StoreSettings, log: Log, withinMs: number): Promise<Counts> {
  switch (settings.kind) {
    case "memory": {
      const { maxKeys } = settings;
      return {
        store: memoryStore(maxKeys === undefined ? {} : { maxKeys }),
        isThere: true,
        close: async () => {},
      };
    }
    case "memcached": {
      const { servers, prefix } = settings;
      const store = memcachedStore({
        servers,
        prefix,
        onWarning: (message) => log.warn({ message }, "memcached"),
      });
      return { store, isThere: true, close: async () => store.close?.() };
    }
    case "redis":
      return openRedisCounts(settings, log, withinMs);
  }
}

async function openRedisCounts(
  settings: Extract<StoreSettings, { kind: "redis" }>,
  log: Log,
  withinMs: number,
): Promise<Counts> {
  const { prefix } = settings;
  const client = clientFor(settings);
  let isToldDown = false;
  client.on("error", (error) => {
    if (isToldDown) return;
    isToldDown = true;
    log.error({ error: reasonOf(error) }, "Redis is out of reach; trying on");
  });
  client.on("ready", () => {
    if (isToldDown) log.info("Redis is back");
    isToldDown = false;
  });
  const isThere = await isConnectedSoon(client, settings, withinMs).catch((error) => {
    throw new TidegateError(
      "TG_REDIS_CONNECT",
      `Redis can not be used: ${reasonOf(error)}`,
      "Check store.url, its user, password and database, and that the server is Redis 6.2 or later.",
    );
  });
  const store = redisStore({ client, prefix, onWarning: (message) => log.warn({ message }, "Redis") });
  return {
    store,
    isThere,
    redis: { client, prefix, openDirectory: () => (store.openDirectory as () => Directory)() },
    async close() {
      await store.close?.();
      client.destroy();
    },
  };
}

/** Whether it was connected in time. Throws what trying on would not change. */
async function isConnectedSoon(
  client: RedisConnection,
  { url }: Extract<StoreSettings, { kind: "redis" }>,
  withinMs: number,
): Promise<boolean> {
  let isRefused = false;
  let giveUp: () => void = () => {};
  const late = new Promise<false>((resolve) => {
    giveUp = () => resolve(false);
  });
  const early = setTimeout(() => isRefused && giveUp(), refusedMs);
  const latest = setTimeout(giveUp, withinMs);
  client.once("error", () => {
    isRefused = true;
  });
  // The client would try on with the same password and the same database.
  const turnedAway = new Promise<never>((_, reject) => {
    client.on(
      "error",
      (error) => /^(WRONGPASS|NOAUTH|NOPERM|ERR DB index)/.test(reasonOf(error)) && reject(error),
    );
  });
  turnedAway.catch(() => {});
  try {
    const connected = client.connect().then(() => refuseNeedlessPassword(client, url));
    connected.catch(() => {});
    return await Promise.race([connected, turnedAway, late]);
  } catch (error) {
    client.destroy();
    throw error;
  } finally {
    clearTimeout(early);
    clearTimeout(latest);
  }
}

/** Redis without a password takes any in the greeting of RESP 3, and turns away who follows changes, in RESP 2. */
async function refuseNeedlessPassword(client: RedisConnection, url: Secret): Promise<true> {
  const { username, password } = new URL(url.reveal());
  if (username !== "" || password === "" || !("auth" in client)) return true;
  await client.auth({ password: decodeURIComponent(password) }).catch((error) => {
    if (reasonOf(error).startsWith("ERR AUTH")) throw error;
  });
  return true;
}

/** Commands fail at once while there is no connection: whoever asks has a deadline, and an answer of its own by then. */
function clientFor({ url, isCluster }: Extract<StoreSettings, { kind: "redis" }>): RedisConnection {
  const socket = {
    reconnectStrategy: (tries: number) => Math.min(50 * 2 ** tries, 1_000),
    connectTimeout: 2_000,
  };
  const common = { commandOptions: { timeout: 0 } };
  return isCluster
    ? createCluster({ rootNodes: [{ url: url.reveal() }], defaults: { socket, ...common } })
    : createClient({ url: url.reveal(), socket, disableOfflineQueue: true, ...common });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
