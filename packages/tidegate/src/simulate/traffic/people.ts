import { addresses } from "./addresses.js";
import { clientOf } from "./client.js";
import { type Random, seededRandom } from "./random.js";
import type { Sequence, Truth } from "./truth.js";
import { browserOf } from "./user-agents.js";
import { load, visit } from "./visit.js";

/** When the model plays. */
export interface Span {
  readonly seed: number;
  readonly from: number;
  readonly to: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A person at home, who comes more often in the afternoon than at night. Two in five have IPv6. */
export function* user({ seed, from, to }: Span, index: number): Sequence {
  const name = `user-${index}`;
  const random = seededRandom(seed, name);
  const truth: Truth = { client: name, who: "user", isHard: false };
  const userAgent = browserOf(random);
  const isV6 = random.chance(0.4);
  const account = random.chance(0.5) ? `${name}@example.com` : undefined;
  const perDay = 0.5 + random.wait(1.5);
  let free = from;
  for (const at of arrivals({ from, to, perDay, random, weightAt: daytime })) {
    const ip = isV6 ? addresses.homeV6(index, random) : addresses.home(index);
    const send = clientOf({ truth, ip, userAgent });
    const hasCache = free > from;
    free = yield* visit({ random, send, ...(account && { account }), hasCache }, Math.max(at, free + 60_000));
  }
}

/** One of many browsers behind the one address of a campus. */
export function* student({ seed, from, to }: Span, campus: number, index: number): Sequence {
  const name = `campus-${campus}/browser-${index}`;
  const random = seededRandom(seed, name);
  const truth: Truth = { client: name, who: "campus", isHard: false };
  const send = clientOf({ truth, ip: addresses.campus(campus), userAgent: browserOf(random) });
  const account = `campus-${campus}-${index}@example.com`;
  let free = from;
  for (const at of arrivals({ from, to, perDay: 4, random, weightAt: openingHours })) {
    const start = Math.max(at, free + 60_000);
    free = yield* visit({ random, send, account, hasCache: free > from }, start);
  }
}

/** A quarter past ten and a quarter past two a whole class opens the same page, all in the same kind of browser. */
export function* lecture({ seed, from, to }: Span, campus: number, seat: number): Sequence {
  const name = `campus-${campus}/seat-${seat}`;
  const random = seededRandom(seed, name);
  const truth: Truth = { client: name, who: "campus", isHard: false };
  const userAgent = browserOf(seededRandom(seed, `campus-${campus}/room`));
  const send = clientOf({ truth, ip: addresses.campus(campus), userAgent });
  for (let day = from - (from % dayMs); day < to; day += dayMs)
    for (const hour of [10.25, 14.25]) {
      const at = day + hour * hourMs + random.between(0, 30_000);
      if (at >= from && at < to) yield* load({ random, send }, at, `/articles/${campus % 5}`, 1);
    }
}

interface Arrivals {
  readonly from: number;
  readonly to: number;
  readonly perDay: number;
  readonly random: Random;
  /** From 0 to 1: how many come at this time. */
  readonly weightAt: (at: number) => number;
}

/** By chance, as often as the time of day allows. */
function* arrivals({ from, to, perDay, random, weightAt }: Arrivals): Generator<number> {
  const mean = dayMs / (2 * perDay);
  for (let at = from + random.wait(mean); at < to; at += random.wait(mean))
    if (random.chance(weightAt(at))) yield at;
}

/** Most at four in the afternoon, hardly anybody at four in the morning (UTC). */
function daytime(at: number): number {
  return 0.52 - 0.48 * Math.cos((2 * Math.PI * ((at % dayMs) / hourMs - 4)) / 24);
}

function openingHours(at: number): number {
  const hour = (at % dayMs) / hourMs;
  return hour >= 8 && hour < 18 ? 1 : 0.03;
}
