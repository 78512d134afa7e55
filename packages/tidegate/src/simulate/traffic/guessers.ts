import { raidOf } from "./abusers.js";
import { addresses } from "./addresses.js";
import { clientOf } from "./client.js";
import type { Span } from "./people.js";
import { seededRandom } from "./random.js";
import type { Sequence, Truth } from "./truth.js";
import { browserOf, libraries } from "./user-agents.js";

/** In turn: stolen passwords of many accounts, and many passwords for one account; from one address. */
export function* bruteForcer(span: Span, index: number): Sequence {
  const address = addresses.abuser(140 + index);
  const raid = raidOf(span, { who: "brute-forcer", abuse: "guessing", index, address, pace: [0.5, 5] });
  const { random, times } = raid;
  const userAgent = random.pick(["Mozilla/5.0 (Hydra)", browserOf(random), random.pick(libraries)]);
  const send = raid.as({ userAgent });
  const target = `victim-${index}@example.com`;
  for (const at of times) {
    const account = index % 2 === 0 ? `leaked-${random.whole(1, 1e6)}@example.com` : target;
    yield send({ at, method: "POST", path: "/login", status: 401, account });
  }
}

const targets = ["admin", "info", "root", "support", "test", "webmaster"].map(
  (name) => `${name}@example.com`,
);

/** One of a botnet that guesses together: one try in two to six minutes each, no more than a person does. Hard. */
export function* bot({ seed, from, to }: Span, index: number): Sequence {
  const name = `bot-${index}`;
  const random = seededRandom(seed, name);
  const truth: Truth = { client: name, who: "brute-forcer", abuse: "guessing", isHard: true };
  const send = clientOf({ truth, ip: addresses.bot(index), userAgent: browserOf(random) });
  const end = Math.min(to, from + 2 * 3_600_000);
  for (let at = from + random.between(0, 240_000); at < end; at += random.between(120_000, 360_000))
    yield send({ at, method: "POST", path: "/login", status: 401, account: random.pick(targets) });
}

/** In turn: a customer of the API who sends five times his tier and more, and somebody without a key. */
export function* flooder(span: Span, index: number): Sequence {
  const address = addresses.abuser(180 + index);
  const raid = raidOf(span, { who: "flooder", abuse: "flooding", index, address, pace: [5, 15] });
  const { random, times } = raid;
  const customer = `flooding-${index}`;
  const isCustomer = index % 2 === 0;
  const send = raid.as({
    userAgent: random.pick(libraries),
    ...(isCustomer && { apiKey: `key-of-${customer}`, customer }),
  });
  for (const at of times)
    yield send({
      at,
      path: `/api/v1/orders/${random.whole(1, 90_000)}`,
      status: isCustomer ? 200 : 401,
    });
}
