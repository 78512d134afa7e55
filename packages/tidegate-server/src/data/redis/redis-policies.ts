import { type PolicyVersion, type PolicyVersions, policyDigest } from "../../data.js";
import { listeners } from "../listeners.js";
import { pageOf } from "../page.js";
import type { Send } from "./commands.js";
import { newestIdPoll } from "./newest-id-poll.js";
import { readKept } from "./read-kept.js";

type Source = PolicyVersion["source"];

/** As kept: beside the version, the newest of each source up to it. */
interface Kept {
  readonly version: PolicyVersion;
  readonly newestFrom: Partial<Record<Source, number>>;
}

export interface RedisPoliciesOptions {
  readonly send: Send;
  readonly prefix: string;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

/**
 * One hash, id to version. Versions are added one after the other and never removed, so its length is the newest id, and
 * "add if nobody was faster" is HSETNX of the next one: one key, one command, no script.
 */
export function redisPolicies(options: RedisPoliciesOptions): PolicyVersions & { close(): void } {
  const { send, prefix, now, onError } = options;
  const key = `${prefix}:policy:versions`;
  const watchers = listeners<PolicyVersion>(onError);
  const newestId = async (): Promise<number> => Number(await send("HLEN", key));
  const poll = newestIdPoll({ newestId, get, tell: watchers.tell, onError });

  async function kept(id: number): Promise<Kept | undefined> {
    const text = await send("HGET", key, String(id));
    return typeof text === "string" ? readKept<Kept>(key, text) : undefined;
  }

  async function get(id: number): Promise<PolicyVersion | undefined> {
    return (await kept(id))?.version;
  }

  return {
    get,
    newest: async () => get(await newestId()),
    async list(page) {
      const { most, before } = pageOf(page);
      const first = Math.min(before - 1, await newestId());
      const ids = Array.from({ length: Math.min(most, Math.max(first, 0)) }, (_, i) => String(first - i));
      if (ids.length === 0) return [];
      const texts = (await send("HMGET", key, ...ids)) as (string | null)[];
      return texts.flatMap((text) => (text === null ? [] : readKept<Kept>(key, text).version));
    },
    async newestFrom(source) {
      const id = (await kept(await newestId()))?.newestFrom[source];
      return id === undefined ? undefined : get(id);
    },
    async add({ text, who, source, why }, after) {
      const previous = after === undefined ? undefined : await kept(after);
      if (after !== undefined && previous === undefined) return undefined;
      const id = (after ?? 0) + 1;
      const version: PolicyVersion = {
        id,
        text,
        digest: policyDigest(text),
        at: now(),
        who,
        source,
        ...(why !== undefined && { why }),
      };
      const newestFrom = { ...previous?.newestFrom, [source]: id };
      const isAdded = await send(
        "HSETNX",
        key,
        String(id),
        JSON.stringify({ version, newestFrom } satisfies Kept),
      );
      if (Number(isAdded) !== 1) return undefined;
      poll.knows(id);
      watchers.tell(version);
      return version;
    },
    watch(listener) {
      const stop = watchers.add(listener);
      poll.start();
      return () => {
        stop();
        if (watchers.size === 0) poll.stop();
      };
    },
    close() {
      watchers.clear();
      poll.stop();
    },
  };
}
