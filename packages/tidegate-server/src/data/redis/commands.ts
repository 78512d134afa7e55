import type { RedisClient } from "tidegate/redis";
import { unreachableError } from "../data-errors.js";

/** Sends one command on the key it names first, and answers what Redis said, within 2 s. */
export type Send = (command: string, key: string, ...args: string[]) => Promise<unknown>;

const deadlineMs = 2_000;

/** The one ability of a node-redis client that is used; of a cluster it takes the key and whether a replica will do. */
interface NodeRedis {
  sendCommand(...args: unknown[]): Promise<unknown>;
  readonly masters?: unknown;
}

/** 36 is RESP's `$`: replies come as text, whatever the client is set to. `timeout` takes back what was not sent in time. */
const options = { typeMapping: { 36: String }, timeout: deadlineMs };

export function commandsOf(client: RedisClient): Send {
  const redis = client as NodeRedis;
  const isCluster = redis.masters !== undefined;
  return async (command, key, ...args) => {
    const words = [command, key, ...args];
    try {
      return await inTime(
        isCluster ? redis.sendCommand(key, false, words, options) : redis.sendCommand(words, options),
      );
    } catch (error) {
      throw unreachableError(error);
    }
  };
}

/** A Redis that hangs does not say so. */
async function inTime<T>(reply: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
    reply.catch(() => {});
  }
}
