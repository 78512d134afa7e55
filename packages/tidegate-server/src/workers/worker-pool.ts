import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { AggregatorRegistry, type Registry } from "prom-client";
import type { Log } from "../log.js";
import type { Fronts } from "../server.js";
import { type Asking, asking } from "./asking.js";
import type { Beginning, Message, Question } from "./messages.js";
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
}

export async function startWorkers(options: WorkerPoolOptions): Promise<WorkerPool> {
  const { count, log, file, args, config, drainMs } = options;
  const ready = new Map<Worker, Asking>();
  let urls: WorkerPool["urls"] = {};
  let isClosing = false;
  let deaths = 0;
  let failFirst: (error: Error) => void = () => {};
  cluster.setupPrimary({ exec: file, args: [...args] });

  function startTalk(worker: Worker): void {
    const talk = asking((asked) => worker.send(asked));
    worker.on("message", async (message: Message) => {
      if ("isWaiting" in message) worker.send({ config } satisfies Beginning);
      else if ("urls" in message) {
        ready.set(worker, talk);
        urls = message.urls;
      } else if ("answer" in message) talk.hear(message);
      else {
        const answer = await finishAmong(worker, message.question);
        if (worker.isConnected()) worker.send({ number: message.number, answer } satisfies Message);
      }
    });
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
    const worker = cluster.fork({ TIDEGATE_WORKER: String(number) });
    startTalk(worker);
    worker.once("exit", (code, signal) => {
      const wasReady = ready.delete(worker);
      if (isClosing) return;
      log.error({ worker: worker.id, code, signal }, "a worker ended; another one is started");
      if (!wasReady && ready.size === 0)
        failFirst(new Error(`Worker ${worker.id} ended with ${signal ?? `code ${code}`}.`));
      deaths = wasReady ? 0 : deaths + 1;
      setTimeout(startOne, Math.min(100 * 2 ** deaths, 10_000), number).unref();
    });
  }

  function untilAllReady(): Promise<void> {
    return new Promise((resolve, reject) => {
      failFirst = reject;
      const timer = setInterval(() => {
        if (ready.size < count) return;
        clearInterval(timer);
        failFirst = () => {};
        resolve();
      }, 20);
    });
  }

  async function endOne(worker: Worker): Promise<void> {
    const ended = once(worker, "exit");
    worker.process.kill("SIGTERM");
    const timer = setTimeout(() => worker.process.kill("SIGKILL"), drainMs + 2_000);
    await ended;
    clearTimeout(timer);
  }

  for (let number = 1; number <= count; number++) startOne(number);
  await untilAllReady();
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
    async close() {
      isClosing = true;
      await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => worker && endOne(worker)));
    },
  };
}
