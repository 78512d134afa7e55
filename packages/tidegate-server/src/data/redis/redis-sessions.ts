import type { Session, Sessions } from "../../data.js";
import { readSession } from "../access-record.js";
import type { AccessKeys } from "./access-keys.js";
import { addSessionScript, removeSessionsScript } from "./access-scripts.js";
import type { Run, Send } from "./commands.js";
import { pairs } from "./pairs.js";

export interface RedisSessionsOptions {
  readonly send: Send;
  readonly run: Run;
  readonly keys: AccessKeys;
  readonly now: () => number;
  /** Beyond it those that end soonest are dropped. */
  readonly most: number;
}

/** Digests one script takes. */
const mostAtOnce = 1_000;

export function redisSessions({ send, run, keys, now, most }: RedisSessionsOptions): Sessions {
  const places = [keys.sessions, keys.sessionEnds];
  const current = (text: unknown): Session | undefined => {
    const session = typeof text === "string" ? readSession(text) : undefined;
    return session !== undefined && session.until > now() ? session : undefined;
  };
  return {
    async add(digest, { tokenId, role, name, until }) {
      const session: Session = { tokenId, role, ...(name !== undefined && { name }), until };
      const numbers = [String(until), String(most)];
      await run(addSessionScript, places, [String(now()), digest, JSON.stringify(session), ...numbers]);
    },
    find: async (digest) => current(await send("HGET", keys.sessions, digest)),
    async remove(digest) {
      const [text] = (await run(removeSessionsScript, places, [digest])) as unknown[];
      return current(text);
    },
    async removeOfToken(tokenId) {
      const digests = pairs(await send("HGETALL", keys.sessions))
        .filter(([, text]) => readSession(text)?.tokenId === tokenId)
        .map(([digest]) => digest);
      for (let i = 0; i < digests.length; i += mostAtOnce)
        await run(removeSessionsScript, places, digests.slice(i, i + mostAtOnce));
    },
  };
}
