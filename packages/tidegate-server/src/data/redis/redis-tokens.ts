import type { NamedToken, Tokens } from "../../data.js";
import { byAge, type KeptToken, keptToken, namedToken, readToken } from "../access-record.js";
import { corruptError } from "../data-errors.js";
import type { AccessKeys } from "./access-keys.js";
import { addTokenScript, revokeTokenScript, touchTokenScript } from "./access-scripts.js";
import type { Run, Send } from "./commands.js";
import { pairs } from "./pairs.js";

export interface RedisTokensOptions {
  readonly send: Send;
  readonly run: Run;
  readonly keys: AccessKeys;
  readonly now: () => number;
  /** Told of what is not ours; it is no token. */
  readonly onError: (error: unknown) => void;
}

export function redisTokens({ send, run, keys, now, onError }: RedisTokensOptions): Tokens {
  function ours(text: string): KeptToken | undefined {
    const token = readToken(text);
    if (token === undefined)
      onError(corruptError(`The Redis key ${keys.tokens}`, "it holds an entry that is not ours"));
    return token;
  }

  async function all(): Promise<{ readonly digest: string; readonly token: NamedToken }[]> {
    const used = new Map(pairs(await send("HGETALL", keys.used)));
    return pairs(await send("HGETALL", keys.tokens)).flatMap(([digest, text]) => {
      const kept = ours(text);
      return kept === undefined ? [] : [{ digest, token: namedToken(kept, used.get(kept.id)) }];
    });
  }

  return {
    async add(token, digest) {
      const kept = keptToken(token, now());
      const args = [digest, kept.name, JSON.stringify(kept)];
      const isAdded = Number(await run(addTokenScript, [keys.tokens, keys.names], args)) === 1;
      return isAdded ? kept : undefined;
    },
    list: async () => (await all()).map(({ token }) => token).sort(byAge),
    async findByDigest(digest) {
      const text = await send("HGET", keys.tokens, digest);
      const kept = typeof text === "string" ? ours(text) : undefined;
      return kept && namedToken(kept, await send("HGET", keys.used, kept.id));
    },
    async revoke(idOrName) {
      const found = (await all()).find(({ token: { id, name } }) => id === idOrName || name === idOrName);
      if (found === undefined) return undefined;
      const { digest, token } = found;
      const places = [keys.tokens, keys.names, keys.used];
      const isGone = Number(await run(revokeTokenScript, places, [digest, token.name, token.id])) === 1;
      return isGone ? token : undefined;
    },
    async touch(id, at) {
      const digest = (await all()).find(({ token }) => token.id === id)?.digest;
      if (digest !== undefined)
        await run(touchTokenScript, [keys.tokens, keys.used], [digest, id, String(at)]);
    },
  };
}
