import { setTimeout as sleep } from "node:timers/promises";
import type { BusyKey, GateMetrics } from "tidegate";
import type { StatusAnswer } from "../api/types.js";
import type { Cli } from "./cli.js";
import { eventStream } from "./event-stream.js";
import { CliError } from "./exit.js";
import { listed } from "./pages.js";
import { openScreen } from "./screen.js";
import { query, type ServerClient } from "./server-client.js";
import { topScreen } from "./top-screen.js";
import { heed, heedStatus, type TopView, topView } from "./top-view.js";

export interface WatchOptions {
  readonly most: number;
  /** Between two questions, while there are no events. */
  readonly everyMs: number;
}

/** A server that says nothing for so long is gone: it would say at least that it is there. */
const silenceMs = 20_000;
const leastGapMs = 100;

/** Draws what goes on until somebody has seen enough. Ends with an error only if nothing can be shown at all. */
export async function watchTop(cli: Cli, { most, everyMs }: WatchOptions): Promise<void> {
  const { io } = cli;
  const admin = cli.admin();
  const view = topView();
  const enough = new AbortController();
  const signal = AbortSignal.any([io.interrupted, enough.signal]);
  const ask = asking(admin, view, most);
  // Whoever has no server, or no token, is told so before the screen is taken.
  await ask();
  const screen = openScreen(io);
  const draw = drawing(() =>
    screen.draw(topScreen(view, admin.url, { rows: io.stdout.rows ?? 24, most }, cli.paint)),
  );
  const stopKeys = io.keys?.((key) => {
    if ("qQ\u0003\u0004".includes(key)) enough.abort();
  });
  try {
    while (!signal.aborted) {
      await follow(admin, view, signal, draw).catch((error) => note(view, error));
      if (signal.aborted) break;
      draw();
      await sleep(everyMs, undefined, { signal }).catch(() => {});
      if (!signal.aborted) await ask().catch((error) => note(view, error));
    }
  } finally {
    draw.stop();
    stopKeys?.();
    screen.close();
  }
}

/** Takes in events until there are no more, which is told by an error. */
async function follow(
  admin: ServerClient,
  view: TopView,
  signal: AbortSignal,
  draw: () => void,
): Promise<void> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), silenceMs);
  try {
    const body = await admin.stream("/v1/events", { signal: AbortSignal.any([signal, silence.signal]) });
    view.trouble = undefined;
    for await (const event of eventStream(body)) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), silenceMs);
      heed(view, event);
      draw();
    }
    throw new Error("the stream ended");
  } finally {
    clearTimeout(timer);
  }
}

/** Says what is wrong, or ends it all where waiting does not help. */
function note(view: TopView, error: unknown): void {
  const status = error instanceof CliError ? error.status : undefined;
  if (status === 401 || status === 403) throw error;
  view.trouble =
    status === 404 || status === 503
      ? "no events to be had, asking now and then"
      : "connection lost, retrying";
}

function asking(admin: ServerClient, view: TopView, most: number): () => Promise<void> {
  let before: { readonly at: number; readonly metrics: GateMetrics } | undefined;
  return async () => {
    view.busiest = listed<BusyKey>(await admin.get(`/v1/busiest${query({ most })}`), "clients");
    const status = (await admin.get("/v1/status")) as StatusAnswer;
    heedStatus(view, status, before);
    before = { at: Date.now(), metrics: status.metrics };
  };
}

/** At once, and then not more often than eyes can follow. */
function drawing(draw: () => void): (() => void) & { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isDue = false;
  function soon(): void {
    if (timer !== undefined) {
      isDue = true;
      return;
    }
    isDue = false;
    draw();
    timer = setTimeout(() => {
      timer = undefined;
      if (isDue) soon();
    }, leastGapMs);
  }
  return Object.assign(soon, { stop: () => clearTimeout(timer) });
}
