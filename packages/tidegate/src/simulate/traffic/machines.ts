import { addresses } from "./addresses.js";
import { clientOf } from "./client.js";
import type { Span } from "./people.js";
import { seededRandom } from "./random.js";
import { site } from "./site.js";
import type { Sequence, Truth } from "./truth.js";
import { crawlers, libraries, monitors } from "./user-agents.js";

/** A search engine's: asks for robots.txt each hour, and otherwise for one page after each crawl delay of 1 to 10 s. */
export function* crawler({ seed, from, to }: Span, index: number): Sequence {
  const name = `crawler-${index}`;
  const random = seededRandom(seed, name);
  const truth: Truth = { client: name, who: "crawler", isHard: false };
  const userAgent = crawlers[index % crawlers.length] as string;
  const send = clientOf({ truth, ip: addresses.crawler(index), userAgent });
  const delay = random.between(1000, 10_000);
  let robotsAt = from;
  let page = random.whole(0, 2000);
  for (let at = from + random.wait(delay); at < to; at += delay * random.between(1, 1.4)) {
    if (at >= robotsAt) {
      yield send({ at, path: "/robots.txt" });
      robotsAt = at + 3_600_000;
    } else yield send({ at, path: site.every(page++), status: random.chance(0.05) ? 404 : 200 });
  }
}

/** Looks every half minute whether the site is there. */
export function* monitor({ seed, from, to }: Span, index: number): Sequence {
  const name = `monitor-${index}`;
  const random = seededRandom(seed, name);
  const truth: Truth = { client: name, who: "monitor", isHard: false };
  const userAgent = monitors[index % monitors.length] as string;
  const send = clientOf({ truth, ip: addresses.machine(index), userAgent });
  for (let at = from + random.between(0, 30_000); at < to; at += 30_000 + random.between(-300, 300))
    yield send({ at, path: index % 2 === 0 ? "/" : "/healthz" });
}

/** Customers of the API: their tier, and the most they send in a minute of work. */
const plans = [
  { tier: "free", perMinute: 45 },
  { tier: "pro", perMinute: 450 },
  { tier: "enterprise", perMinute: 1500 },
] as const;

/** The n-th customer of the API, who keeps to what was agreed. */
export function customerOf(index: number): { readonly id: string; readonly tier: string } {
  return { id: `customer-${index}`, tier: (plans[index % plans.length] as (typeof plans)[number]).tier };
}

/** Works off something every two hours or so, for one to four minutes, as fast as three quarters of its tier. */
export function* apiClient({ seed, from, to }: Span, index: number): Sequence {
  const { id } = customerOf(index);
  const name = `api-client-${index}`;
  const random = seededRandom(seed, name);
  const truth: Truth = { client: name, who: "api-client", isHard: false };
  const userAgent = random.pick(libraries);
  const ip = addresses.machine(20 + index);
  const send = clientOf({ truth, ip, userAgent, apiKey: `key-of-${id}`, customer: id });
  const { perMinute } = plans[index % plans.length] as (typeof plans)[number];
  for (let job = from + random.between(0, 7_200_000); job < to; job += random.between(0.8, 1.2) * 7_200_000) {
    const end = Math.min(to, job + random.between(60_000, perMinute > 1000 ? 90_000 : 240_000));
    for (let at = job; at < end; at += (60_000 / perMinute) * random.between(0.8, 1.2)) {
      const chance = random.next();
      const status = chance < 0.01 ? 404 : chance < 0.012 ? 500 : 200;
      yield send({ at, path: `/api/v1/orders/${random.whole(1, 90_000)}`, status });
    }
  }
}
