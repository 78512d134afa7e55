import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { AggregatorRegistry, type Registry } from "prom-client";
import { TidegateError } from "tidegate";
import type { Log } from "../log.js";
import type { Fronts } from "../server.js";
import { type Asking, asking } from "./asking.js";
import type { Beginning, Message, Order, Question } from "./messages.js";
import { stateOfAll } from "./state-of-all.js";
import { trafficOfAll } from "./traffic-of-all.js";

/** Processes that meet the traffic, kept alive: one that dies is replaced, later each time. */
export interface WorkerPool extends Fronts {
  /** Where the fronts listen, once all are ready. */
  readonly urls: { readonly proxy?: string; readonly decide?: string };
  /** Lets all end what is under way. */
  close(): Promise<void>;
}

export interface WorkerPoolOptions {
  readonly count: number;
  readonly log: Log;
  /** What each worker is started with: this program's own arguments. */
  readonly args: readonly string[];
  readonly file: string;
  /** And told when it asks. */
  readonly config: Beginning["config"];
  /** How long a worker may take to end before it is killed. */
  readonly drainMs: number;
  /** How long all of them together may take until they are ready. Default a minute. */
  readonly readyWithinMs?: number;
}

export async function startWorkers(options: WorkerPoolOptions): Promise<WorkerPool> {
  const { count, log, file, args, config, drainMs, readyWithinMs = 60_000 } = options;
  const ready = new Map<Worker, Asking>();
  let urls: WorkerPool["urls"] = {};
  let isStarting = true;
  let startFailure: Error | undefined;
  let isClosing = false;
  let deaths = 0;
  cluster.setupPrimary({ exec: file, args: [...args] });

  function startTalk(worker: Worker): Asking {
    const talk = asking((asked) => tell(worker, asked));
    worker.on("message", async (message: Message) => {
      if ("isWaiting" in message) tell(worker, { config });
      else if ("urls" in message) {
        ready.set(worker, talk);
        urls = message.urls;
      } else if ("failure" in message) {
        if (isStarting) startFailure ??= new Error(message.failure);
        else log.error({ worker: worker.id }, message.failure);
        worker.process.kill("SIGKILL");
      } else if ("answer" in message) talk.hear(message);
      else tell(worker, { number: message.number, answer: await finishAmong(worker, message.question) });
    });
    // What is written to a worker that has just died comes back as an error.
    worker.on("error", (error) => log.warn({ err: error, worker: worker.id }, "a worker was not reached"));
    return talk;
  }

  /** A decision waits in the worker that made it, and the end of its request may be told to any. */
  async function finishAmong(asker: Worker, question: Question): Promise<boolean> {
    if (question.kind !== "finish") return false;
    const others = [...ready].filter(([worker]) => worker !== asker);
    const answers = await Promise.all(others.map(([, talk]) => talk.ask(question, false)));
    return answers.includes(true);
  }

  /** A worker that takes another's place takes its number too: from 1 up. */
  function startOne(number: number): void {
    if (isClosing) return;
    const worker = cluster.fork({ TIDEGATE_WORKER: String(number) });
    const talk = startTalk(worker);
    worker.once("exit", (code, signal) => {
      const wasReady = ready.delete(worker);
      talk.leave();
      if (isClosing) return;
      if (isStarting && !wasReady) {
        startFailure ??= noStart(`Worker ${worker.id} ended with ${signal ?? `code ${code}`}.`);
        return;
      }
      log.error({ worker: worker.id, code, signal }, "a worker ended; another one is started");
      deaths = wasReady ? 0 : deaths + 1;
      setTimeout(startOne, Math.min(100 * 2 ** deaths, 10_000), number).unref();
    });
  }

  async function untilAllReady(): Promise<void> {
    const until = performance.now() + readyWithinMs;
    while (ready.size < count) {
      if (startFailure !== undefined) throw startFailure;
      if (performance.now() > until)
        throw noStart(`Only ${ready.size} of ${count} workers were ready within ${readyWithinMs / 1000} s.`);
      await sleep(20);
    }
    isStarting = false;
  }

  async function endOne(worker: Worker): Promise<void> {
    const ended = once(worker, "exit");
    // Nothing is under way in one that is not ready, and it does not listen yet.
    const killAfterMs = ready.has(worker) ? drainMs + 2_000 : 0;
    tell(worker, { isEnd: true });
    const timer = setTimeout(() => worker.process.kill("SIGKILL"), killAfterMs);
    await ended;
    clearTimeout(timer);
  }

  async function close(): Promise<void> {
    isClosing = true;
    await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => worker && endOne(worker)));
  }

  for (let number = 1; number <= count; number++) startOne(number);
  try {
    await untilAllReady();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    count,
    urls,
    async state(most) {
      const asked = [...ready.values()].map((talk) => talk.ask({ kind: "state", most }, undefined));
      return stateOfAll(await Promise.all(asked), count, most);
    },
    async refusal(id) {
      const asked = [...ready.values()].map((talk) => talk.ask({ kind: "refusal", id }, null));
      return (await Promise.all(asked)).find((refusal) => refusal !== null) ?? undefined;
    },
    async refusedClients(filter) {
      const asked = [...ready.values()].map((talk) => talk.ask({ kind: "refused clients", filter }, []));
      return (await Promise.all(asked)).flat();
    },
    async holds() {
      const asked = [...ready.values()].map((talk) => talk.ask({ kind: "holds" }, []));
      return (await Promise.all(asked)).flat();
    },
    async release(released) {
      await Promise.all([...ready.values()].map((talk) => talk.ask({ kind: "release", released }, false)));
    },
    async series(seconds) {
      const asked = [...ready.values()].map((talk) => talk.ask({ kind: "series", seconds }, null));
      return (await Promise.all(asked)).filter((each) => each !== null);
    },
    async clientSeries(key) {
      const asked = [...ready.values()].map((talk) => talk.ask({ kind: "client series", key }, null));
      return (await Promise.all(asked)).filter((each) => each !== null);
    },
    traffic: () => trafficOfAll([...ready.values()]),
    async metricsText(own: Registry) {
      const theirs = [...ready.values()].map((talk) => talk.ask({ kind: "metrics" }, []));
      const all = await Promise.all([own.getMetricsAsJSON(), ...theirs]);
      return AggregatorRegistry.aggregate(all.filter((each) => each.length > 0) as object[]).metrics();
    },
    close,
  };
}

function tell(worker: Worker, message: Order | Beginning): void {
  if (worker.isConnected()) worker.send(message);
}

function noStart(message: string): TidegateError {
  return new TidegateError(
    "TG_WORKERS_START",
    message,
    "The log says what it was doing. Start again, with fewer workers if the machine is short of memory.",
  );
}
