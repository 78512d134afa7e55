import type { ProxySettings, UpstreamSettings } from "../settings.js";
import { Origin } from "./origin.js";

/** Several origins that serve the same. */
export class Upstream {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly path: string;
  readonly settings: UpstreamSettings;
  readonly origins: readonly Origin[];
  #turn = 0;

  constructor(settings: UpstreamSettings, proxy: ProxySettings) {
    this.settings = settings;
    this.name = settings.name;
    this.hosts = settings.hosts;
    this.path = settings.path;
    this.origins = settings.urls.map((url) => new Origin(url, proxy));
  }

  get isReady(): boolean {
    return this.origins.some((origin) => origin.isHealthy);
  }

  /** When it is worth asking again while none is healthy. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil((this.settings.health?.everyMs ?? 1000) / 1000));
  }

  /**
   * The least busy of the healthy origins; of several, the one picked longest ago. One that rests, or was just tried, only if
   * there is no other.
   */
  pick(tried?: Origin): Origin | undefined {
    const { origins } = this;
    if (origins.length === 1) return origins[0]?.isHealthy ? origins[0] : undefined;
    let best: Origin | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const origin of origins) {
      if (!origin.isHealthy) continue;
      const load = origin.load + (origin.isResting || origin === tried ? unwanted : 0);
      if (load > least || (load === least && origin.pickedAt > (best as Origin).pickedAt)) continue;
      best = origin;
      least = load;
    }
    if (best !== undefined) best.pickedAt = ++this.#turn;
    return best;
  }
}

const unwanted = 1e9;
