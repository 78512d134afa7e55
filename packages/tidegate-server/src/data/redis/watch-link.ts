import type { RedisClient } from "tidegate/redis";
import { inTime } from "./commands.js";

/** A connection of our own, on which a command may wait. Once lost it does not come back: another is opened. */
export interface WatchLink {
  /** Rejects when there is no answer in time. */
  command(key: string, words: readonly string[], withinMs: number): Promise<unknown>;
  close(): void;
}

/** What is used of a node-redis client, single or cluster. */
interface NodeRedis {
  readonly masters?: unknown;
  readonly options?: { readonly socket?: object };
  readonly isOpen: boolean;
  duplicate(overrides: object): NodeRedis;
  on(event: "error", listener: () => void): unknown;
  connect(): Promise<unknown>;
  sendCommand(...args: unknown[]): Promise<unknown>;
  unref?(): void;
  destroy(): void;
}

const connectWithinMs = 2_000;

/** 36 is RESP's `$`: replies come as text. */
const options = { typeMapping: { 36: String }, timeout: 0 };

export async function openWatchLink(client: RedisClient): Promise<WatchLink> {
  const user = client as NodeRedis;
  const isCluster = user.masters !== undefined;
  const own = user.duplicate({
    RESP: 2,
    clientSideCache: undefined,
    ...(isCluster
      ? { minimizeConnections: true }
      : {
          socket: { ...user.options?.socket, reconnectStrategy: false },
          disableOfflineQueue: false,
          emitInvalidate: false,
          maintNotifications: "disabled",
        }),
  });
  own.on("error", () => {});
  const close = (): void => {
    if (own.isOpen) own.destroy();
  };
  try {
    await inTime(own.connect(), connectWithinMs);
  } catch (error) {
    close();
    throw error;
  }
  if (!isCluster) own.unref?.();
  return {
    command: (key, words, withinMs) =>
      inTime(
        isCluster ? own.sendCommand(key, false, words, options) : own.sendCommand(words, options),
        withinMs,
      ),
    close,
  };
}
