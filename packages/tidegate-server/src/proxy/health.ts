import { Client } from "undici";
import type { Log } from "../log.js";
import type { HealthSettings } from "../settings.js";
import type { Origin } from "./origin.js";

export interface HealthOptions {
  readonly origin: Origin;
  readonly upstream: string;
  readonly settings: HealthSettings;
  readonly log: Log;
}

/**
 * Asks an origin again and again how it is. It is taken for healthy until so many answers in a row say otherwise. Answers
 * the function that stops it.
 */
export function watchHealth({ origin, upstream, settings, log }: HealthOptions): () => void {
  const { path, everyMs, timeoutMs, failures, successes } = settings;
  const url = origin.url.origin;
  const client = new Client(url, {
    connect: { timeout: timeoutMs, ...(origin.servername !== "" && { servername: origin.servername }) },
  });
  let inRow = 0;
  let isAsking = false;
  const timer = setInterval(look, everyMs).unref();
  look();

  function look(): void {
    if (isAsking) return;
    isAsking = true;
    ask().then((answer) => {
      isAsking = false;
      note(answer);
    });
  }

  async function ask(): Promise<string | undefined> {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const { statusCode, body } = await client.request({ method: "GET", path, signal });
      await body.dump({ limit: 65_536 });
      return statusCode < 400 ? undefined : `status ${statusCode}`;
    } catch (error) {
      return String(Object(error).code ?? Object(error).name ?? "error");
    }
  }

  function note(complaint: string | undefined): void {
    if (client.destroyed) return;
    const isWell = complaint === undefined;
    if (isWell === origin.isHealthy) {
      inRow = 0;
      return;
    }
    inRow++;
    if (inRow < (isWell ? successes : failures)) return;
    inRow = 0;
    origin.isHealthy = isWell;
    if (isWell) log.info({ upstream, origin: url }, "an origin is healthy again");
    else log.warn({ upstream, origin: url, complaint }, "an origin is not healthy and gets no requests");
  }

  return () => {
    clearInterval(timer);
    client.destroy().catch(() => {});
  };
}
