import { Deadlines } from "../../deadlines.js";
import { StoreError } from "../../errors.js";
import { type Call, isVoid, voidCall } from "./batch.js";
import type { Connection } from "./connection.js";
import { Reply } from "./reply.js";
import { ServerClock } from "./server-clock.js";

/** One call under way, and until when it counts. */
interface Attempt {
  readonly began: number;
  readonly deadlineMs: number;
  call: Call | undefined;
}

export interface CallsOptions {
  /** Whether replies tell the server's own time. */
  readonly tellsServerTime: boolean;
  readonly warn: (message: string) => void;
}

/** Calls of the script, each with a deadline after which it has no effect. */
export class Calls {
  readonly #connection: Connection;
  readonly #options: CallsOptions;
  readonly #serverClock = new ServerClock();
  readonly #inFlight = new Set<Call>();
  readonly #deadlines = new Map<number, Deadlines>();
  #introduction: Promise<void> | undefined;

  constructor(connection: Connection, options: CallsOptions) {
    this.#connection = connection;
    this.#options = options;
    connection.onBreak(() => this.#inFlight.forEach(voidCall));
  }

  /** Runs the script, or rejects by the deadline; what is still under way then has no effect. */
  run(write: (notAfter: number) => Call, deadlineMs: number = Number.POSITIVE_INFINITY): Promise<Reply> {
    const attempt: Attempt = { began: performance.now(), deadlineMs, call: undefined };
    return this.inTime(this.#try(write, attempt), deadlineMs, () => attempt.call && voidCall(attempt.call));
  }

  inTime<T>(
    answer: Promise<T>,
    deadlineMs: number = Number.POSITIVE_INFINITY,
    onLate?: () => void,
  ): Promise<T> {
    return deadlineMs === Number.POSITIVE_INFINITY
      ? answer
      : this.#deadlinesOf(deadlineMs).race(answer, onLate);
  }

  async #try(write: (notAfter: number) => Call, attempt: Attempt): Promise<Reply> {
    if (!this.#serverClock.isKnown) await this.#introduce();
    for (;;) {
      const sentMs = performance.now();
      if (sentMs - attempt.began >= attempt.deadlineMs) throw tooLate();
      const call = write(this.#serverClock.at(attempt.began + attempt.deadlineMs));
      attempt.call = call;
      this.#inFlight.add(call);
      let reply: Reply;
      try {
        reply = new Reply(await this.#connection.run(call.keys, call.input, call.ids));
      } catch (error) {
        throw storeFailure(error);
      } finally {
        this.#inFlight.delete(call);
      }
      if (reply.isLate || this.#options.tellsServerTime)
        this.#serverClock.learn(reply.now, sentMs, performance.now());
      if (!reply.isLate) return reply;
      if (isVoid(call)) throw tooLate();
      // Late while there was time: the server's clock was set forward. Nothing was counted, so it is sent again.
    }
  }

  #deadlinesOf(deadlineMs: number): Deadlines {
    let deadlines = this.#deadlines.get(deadlineMs);
    if (deadlines === undefined) {
      deadlines = new Deadlines(deadlineMs);
      this.#deadlines.set(deadlineMs, deadlines);
    }
    return deadlines;
  }

  /** Once, before the first call: what time is it there, and does the server drop keys when it is full? */
  #introduce(): Promise<void> {
    this.#introduction ??= this.#meet().finally(() => {
      this.#introduction = undefined;
    });
    return this.#introduction;
  }

  async #meet(): Promise<void> {
    const sentMs = performance.now();
    try {
      const [time, memory] = await Promise.all([
        this.#connection.command(["TIME"]),
        this.#connection.command(["INFO", "memory"]).catch(() => ""),
      ]);
      const [seconds, micros] = time as [unknown, unknown];
      const serverMs = Number(String(seconds)) * 1000 + Number(String(micros)) / 1000;
      this.#serverClock.learn(serverMs, sentMs, performance.now());
      this.#warnOfEviction(String(memory));
    } catch (error) {
      throw storeFailure(error);
    }
  }

  #warnOfEviction(memory: string): void {
    const policy = /^maxmemory_policy:([a-z-]+)/m.exec(memory)?.[1];
    const hasLimit = /^maxmemory:[1-9]/m.test(memory);
    if (hasLimit && policy !== undefined && policy !== "noeviction") {
      this.#options.warn(
        `Tidegate: this Redis has maxmemory-policy ${policy} and drops keys when it is full, counts and holds among them. Give Tidegate a Redis of its own with noeviction, or room enough. [TG_REDIS_EVICTS]`,
      );
    }
  }
}

export function storeFailure(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StoreError(
    "TG_STORE_UNREACHABLE",
    "redis",
    message,
    "See that Redis is up, reachable, writable and not out of memory.",
    {
      transient: true,
      isReadable: /\b(OOM|READONLY|MISCONF|NOREPLICAS)\b/.test(message.slice(0, 200)),
      cause: error,
    },
  );
}

function tooLate(): StoreError {
  return new StoreError(
    "TG_STORE_LATE",
    "redis",
    "the call reached Redis too late and had no effect.",
    "Redis or the way to it was slow, or the connection broke.",
    {
      transient: true,
    },
  );
}
