import { createHash } from "node:crypto";
import type { RedisClient } from "tidegate/redis";
import { reasonOf, unreachableError } from "../data-errors.js";

/** Sends one command on the key it names first, and answers what Redis said, within 2 s. */
export type Send = (command: string, key: string, ...args: string[]) => Promise<unknown>;

/** Runs a script on keys of one slot, and answers what it returned, within 2 s. */
export type Run = (script: Script, keys: readonly string[], args: readonly string[]) => Promise<unknown>;

/** A script and the name Redis knows it by. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

export function scriptOf(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

const deadlineMs = 2_000;

/** The one ability of a node-redis client that is used; of a cluster it takes the key and whether a replica will do. */
interface NodeRedis {
  sendCommand(...args: unknown[]): Promise<unknown>;
  readonly masters?: unknown;
}

/** 36 is RESP's `$`: replies come as text, whatever the client is set to. `timeout` takes back what was not sent in time. */
const options = { typeMapping: { 36: String }, timeout: deadlineMs };

type SendWords = (key: string, words: readonly string[]) => Promise<unknown>;

export function commandsOf(client: RedisClient): Send {
  const sendWords = wordsTo(client);
  return async (command, key, ...args) => {
    try {
      return await sendWords(key, [command, key, ...args]);
    } catch (error) {
      throw unreachableError(error);
    }
  };
}

export function scriptsOf(client: RedisClient): Run {
  const sendWords = wordsTo(client);
  return async ({ text, sha }, keys, args) => {
    const [key = ""] = keys;
    const rest = [String(keys.length), ...keys, ...args];
    try {
      try {
        return await sendWords(key, ["EVALSHA", sha, ...rest]);
      } catch (error) {
        if (!reasonOf(error).startsWith("NOSCRIPT")) throw error;
        return await sendWords(key, ["EVAL", text, ...rest]);
      }
    } catch (error) {
      throw unreachableError(error);
    }
  };
}

function wordsTo(client: RedisClient): SendWords {
  const redis = client as NodeRedis;
  const isCluster = redis.masters !== undefined;
  return (key, words) =>
    inTime(
      isCluster ? redis.sendCommand(key, false, words, options) : redis.sendCommand(words, options),
      deadlineMs,
    );
}

/** A Redis that hangs does not say so. */
export async function inTime<T>(reply: Promise<T>, withinMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${withinMs} ms`)), withinMs);
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
    reply.catch(() => {});
  }
}
