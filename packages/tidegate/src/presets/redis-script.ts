import { createHash } from "node:crypto";
import type { Connection } from "../stores/redis/connection.js";

/** Runs a script on one key by its digest; its text goes over the wire only when Redis does not know it. */
export function redisScript(
  connection: Connection,
  text: string,
): (key: string, ...args: readonly string[]) => Promise<unknown> {
  const sha = createHash("sha1").update(text).digest("hex");
  return async (key, ...args) => {
    try {
      return await connection.command(["EVALSHA", sha, "1", key, ...args], key);
    } catch (error) {
      if (!isNoScript(error)) throw error;
      return connection.command(["EVAL", text, "1", key, ...args], key);
    }
  };
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
}
