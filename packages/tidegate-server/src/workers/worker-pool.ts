import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { AggregatorRegistry, type Registry } from "prom-client";
import type { Log } from "../log.js";
import type { Fronts } from "../server.js";
import type { FromWorker, Metrics, ToWorker } from "./messages.js";

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
  /** How long a worker may take to end before it is killed. */
  readonly drainMs: number;
}

const answerWithinMs = 2_000;

export async function startWorkers(options: WorkerPoolOptions): Promise<WorkerPool> {
  const { count, log, file, args, drainMs } = options;
  const ready = new Set<Worker>();
  const answers = new Map<number, (metrics: readonly Metrics[]) => void>();
  let urls: WorkerPool["urls"] = {};
  let questions = 0;
  let isClosing = false;
  let deaths = 0;
  let failFirst: (error: Error) => void = () => {};
  cluster.setupPrimary({ exec: file, args: [...args] });

  function hear(worker: Worker, message: FromWorker): void {
    if (message.kind === "metrics") answers.get(message.question)?.(message.metrics);
    else {
      ready.add(worker);
      urls = message.urls;
    }
  }

  function startOne(): void {
    const worker = cluster.fork({ TIDEGATE_WORKER: "1" });
    worker.on("message", (message: FromWorker) => hear(worker, message));
    worker.once("exit", (code, signal) => {
      const wasReady = ready.delete(worker);
      if (isClosing) return;
      log.error({ worker: worker.id, code, signal }, "a worker ended; another one is started");
      if (!wasReady && ready.size === 0)
        failFirst(new Error(`Worker ${worker.id} ended with ${signal ?? `code ${code}`}.`));
      deaths = wasReady ? 0 : deaths + 1;
      setTimeout(startOne, Math.min(100 * 2 ** deaths, 10_000)).unref();
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

  /** A worker that does not answer in time is left out. */
  function metricsOf(worker: Worker): Promise<readonly Metrics[]> {
    const question = questions++;
    return new Promise((resolve) => {
      const answer = (metrics: readonly Metrics[]): void => {
        clearTimeout(timer);
        answers.delete(question);
        resolve(metrics);
      };
      const timer = setTimeout(() => answer([]), answerWithinMs);
      answers.set(question, answer);
      worker.send({ kind: "metrics", question } satisfies ToWorker);
    });
  }

  async function endOne(worker: Worker): Promise<void> {
    const ended = once(worker, "exit");
    worker.process.kill("SIGTERM");
    const timer = setTimeout(() => worker.process.kill("SIGKILL"), drainMs + 2_000);
    await ended;
    clearTimeout(timer);
  }

  for (let i = 0; i < count; i++) startOne();
  await untilAllReady();
  return {
    count,
    urls,
    isReady: () => ready.size === count,
    async metricsText(own: Registry) {
      const all = await Promise.all([own.getMetricsAsJSON(), ...[...ready].map(metricsOf)]);
      return AggregatorRegistry.aggregate(all.filter((each) => each.length > 0) as object[]).metrics();
    },
    async close() {
      isClosing = true;
      await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => worker && endOne(worker)));
    },
  };
}
