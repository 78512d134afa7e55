import type { Server } from "../server.js";
import type { FromWorker, ToWorker } from "./messages.js";

/** Tells the parent that this worker is ready, and answers what it asks. */
export function serveAsWorker({ urls, registry }: Server): void {
  const { proxy, decide } = urls;
  tell({ kind: "ready", urls: { ...(proxy && { proxy }), ...(decide && { decide }) } });
  process.on("message", async ({ kind, question }: ToWorker) => {
    if (kind === "metrics") tell({ kind, question, metrics: await registry.getMetricsAsJSON() });
  });
}

function tell(message: FromWorker): void {
  process.send?.(message);
}
