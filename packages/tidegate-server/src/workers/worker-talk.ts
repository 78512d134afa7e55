import type { Server } from "../server.js";
import { asking } from "./asking.js";
import type { Beginning, Message, Order, Question } from "./messages.js";

/** A worker's side of the talk with its parent. */
export interface WorkerTalk {
  /** For the server: asks the other workers. */
  finishElsewhere(id: string, status: number | undefined): Promise<boolean>;
  /** Tells the parent that this worker is ready, answers what it asks from now on, and ends when it says so. */
  serve(server: Server, end: () => void): void;
}

/** The configuration of the parent, which is asked for before all else: what is told to a process that does not listen yet is lost. */
export function configOfParent(): Promise<Beginning["config"]> {
  return new Promise((resolve) => {
    process.once("message", ({ config }: Beginning) => resolve(config));
    tell({ isWaiting: true });
  });
}

/** Tells the parent why this worker can not start: it says so, and ends it. */
export function giveUp(error: unknown): void {
  tell({ failure: error instanceof Error ? error.message : String(error) });
}

export function workerTalk(): WorkerTalk {
  const parent = asking(tell);
  return {
    finishElsewhere: (id, status) =>
      parent.ask({ kind: "finish", id, ...(status !== undefined && { status }) }, false),
    serve(server, end) {
      process.on("message", async (message: Order) => {
        if ("answer" in message) parent.hear(message);
        else if ("isEnd" in message) end();
        else tell({ number: message.number, answer: await answerTo(message.question, server) });
      });
      const { proxy, decide } = server.urls;
      tell({ urls: { ...(proxy && { proxy }), ...(decide && { decide }) } });
    },
  };
}

async function answerTo(question: Question, server: Server): Promise<unknown> {
  const { registry, finish, state, refusal, refusedClients, series, clientSeries, traffic } = server;
  const { holds, release } = server;
  switch (question.kind) {
    case "metrics":
      return registry.getMetricsAsJSON();
    case "state":
      return state(question.most);
    case "finish":
      return finish(question.id, question.status);
    case "refusal":
      return (await refusal(question.id)) ?? null;
    case "refused clients":
      return refusedClients(question.filter);
    case "holds":
      return holds();
    case "release":
      await release(question.released);
      return true;
    case "series":
      return series(question.seconds);
    case "client series":
      return (await clientSeries(question.key)) ?? null;
    case "traffic":
      return traffic(question.from, question.most);
  }
}

function tell(message: Message): void {
  process.send?.(message);
}
