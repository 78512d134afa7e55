import { createRequire } from "node:module";
import { join } from "node:path";
import { ConfigError } from "../../errors.js";
import type { RedisClient } from "../../stores/redis/connection.js";

export interface InstalledClient {
  readonly client: RedisClient;
  close(): void;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** A client of whatever package for Redis the app has installed. It connects by itself, and again whenever it has to. */
export function installedRedisClient(
  address: Address,
  load: (name: string) => unknown = installed,
): InstalledClient {
  const ioredis = load("ioredis") as IoredisPackage | undefined;
  if (ioredis !== undefined) return openIoredis(ioredis, address);
  const nodeRedis = (load("redis") ?? load("@redis/client")) as NodeRedisPackage | undefined;
  if (nodeRedis !== undefined) return openNodeRedis(nodeRedis, address);
  throw new ConfigError(
    "TG_CACHE_CLIENT",
    "apiThrottling.cache",
    "no client for Redis is installed.",
    'Run `npm install ioredis`, hand in a client of yours (cache: client), or count in this process (cache: "hash").',
  );
}

/** The app may run from its own folder, or Tidegate may lie in it. */
function installed(name: string): unknown {
  for (const from of [join(process.cwd(), "package.json"), import.meta.url]) {
    const require = createRequire(from);
    try {
      return require(require.resolve(name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  return undefined;
}

interface IoredisPackage {
  Redis: new (options: object) => { on(event: "error", listener: () => void): void; disconnect(): void };
}

function openIoredis({ Redis }: IoredisPackage, address: Address): InstalledClient {
  // A hit that can not be counted soon is let through: it need not wait, and must not be counted twice.
  const client = new Redis({ ...address, maxRetriesPerRequest: 1, autoResendUnfulfilledCommands: false });
  client.on("error", failuresAreAnsweredElsewhere);
  return { client, close: () => client.disconnect() };
}

interface NodeRedisPackage {
  createClient(options: object): {
    on(event: "error", listener: () => void): void;
    connect(): Promise<unknown>;
    destroy(): void;
  };
}

function openNodeRedis({ createClient }: NodeRedisPackage, address: Address): InstalledClient {
  const client = createClient({ socket: address });
  client.on("error", failuresAreAnsweredElsewhere);
  client.connect().catch(failuresAreAnsweredElsewhere);
  return { client, close: () => client.destroy() };
}

/** Each call that fails is noticed where it was made; an error event nobody hears would end the process. */
function failuresAreAnsweredElsewhere(): void {}
