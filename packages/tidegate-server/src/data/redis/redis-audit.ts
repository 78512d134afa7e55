import type { AuditEntry, AuditLog } from "../../data.js";
import { corruptError, reasonOf } from "../data-errors.js";
import { pageOf } from "../page.js";
import type { Send } from "./commands.js";
import { readKept } from "./read-kept.js";

export interface RedisAuditOptions {
  readonly send: Send;
  readonly prefix: string;
  readonly now: () => number;
  /** Older ones are dropped. */
  readonly most: number;
}

type StreamEntry = readonly [id: string, fields: readonly [name: string, text: string]];

const mostTries = 100;

/** A stream whose ids are `0-1`, `0-2`, …: it keeps their order, cuts its own end, and is paged by them. */
export function redisAudit({ send, prefix, now, most: mostKept }: RedisAuditOptions): AuditLog {
  const key = `${prefix}:audit`;

  /** Answers false for a number that comes too late: a higher one is there already. */
  async function append(id: number, text: string): Promise<boolean> {
    try {
      await send("XADD", key, "MAXLEN", "=", String(mostKept), `0-${id}`, "entry", text);
      return true;
    } catch (error) {
      if (/equal or smaller/.test(reasonOf(error))) return false;
      throw error;
    }
  }

  async function newest(most: number, before: number): Promise<StreamEntry[]> {
    return (await send("XREVRANGE", key, `0-${before - 1}`, "-", "COUNT", String(most))) as StreamEntry[];
  }

  return {
    async add(entry) {
      const text = JSON.stringify({ ...entry, at: now() });
      let id = Number(await send("INCR", `${key}:last`));
      for (let tries = 1; !(await append(id, text)); tries++) {
        if (tries === mostTries) throw corruptError(`The Redis key ${key}`, "its numbers are not ours");
        const [last] = await newest(1, Number.MAX_SAFE_INTEGER);
        const step = Math.max(last === undefined ? 1 : numberOf(last) - id + 1, 1);
        id = Number(await send("INCRBY", `${key}:last`, String(step)));
      }
      return { ...JSON.parse(text), id };
    },
    async list(page) {
      const { most, before } = pageOf(page);
      if (before <= 1) return [];
      return (await newest(most, before)).map(
        (each): AuditEntry => ({ ...readKept<AuditEntry>(key, each[1][1]), id: numberOf(each) }),
      );
    },
  };
}

function numberOf([id]: StreamEntry): number {
  return Number(id.slice("0-".length));
}
