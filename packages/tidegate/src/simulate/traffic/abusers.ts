import { addresses } from "./addresses.js";
import { type Client, type ClientFacts, clientOf } from "./client.js";
import type { Span } from "./people.js";
import { type Random, seededRandom } from "./random.js";
import { site } from "./site.js";
import type { Abuse, Sequence, Truth, Who } from "./truth.js";
import { browserOf, libraries, madeUpBrowser } from "./user-agents.js";

/** One abuser at work: some 8 to 16 minutes somewhere in the span, at a steady pace with some jitter. */
export interface Raid {
  readonly random: Random;
  readonly times: Iterable<number>;
  /** The raider under a name, from its one address. */
  as(facts: Partial<Omit<ClientFacts, "truth">>): Client;
}

export interface RaidFacts {
  readonly who: Who;
  readonly abuse: Abuse;
  readonly index: number;
  readonly address: string;
  /** Between these, requests a second. */
  readonly pace: readonly [number, number];
}

export function raidOf({ seed, from, to }: Span, { who, abuse, index, address, pace }: RaidFacts): Raid {
  const name = `${who}-${index}`;
  const random = seededRandom(seed, name);
  const truth: Truth = { client: name, who, abuse, isHard: false };
  const lasts = Math.min(to - from, random.between(8, 16) * 60_000);
  const start = random.between(from, to - lasts);
  const gap = 1000 / random.between(...pace);
  return {
    random,
    times: paced(random, start, start + lasts, gap),
    as: (facts) => clientOf({ truth, ip: address, userAgent: "", ...facts }),
  };
}

function* paced(random: Random, from: number, to: number, gap: number): Generator<number> {
  for (let at = from; at < to; at += gap * random.between(0.7, 1.3)) yield at;
}

const scrapingTools = [
  "Scrapy/2.11.2 (+https://scrapy.org)",
  "Mozilla/4.5 (compatible; HTTrack 3.0x; Windows 98)",
  "crawler4j (https://github.com/yasserg/crawler4j/)",
];

/** In turn: a tool under its own name, one under a browser's, a search asked for everything, a program, one with a new name each time. */
export function* scraper(span: Span, index: number): Sequence {
  const style = index % 5;
  const pace = (
    [
      [1, 4],
      [3, 8],
      [3, 8],
      [3, 8],
      [8, 12],
    ] as const
  )[style] as readonly [number, number];
  const raid = raidOf(span, {
    who: "scraper",
    abuse: "scraping",
    index,
    address: addresses.abuser(index),
    pace,
  });
  const { random, times } = raid;
  const names = [random.pick(scrapingTools), browserOf(random), browserOf(random), random.pick(libraries)];
  const one = raid.as({ userAgent: names[style] ?? "" });
  let page = random.whole(0, 2000);
  for (const at of times) {
    const send = style === 4 ? raid.as({ userAgent: madeUpBrowser(random) }) : one;
    yield send({ at, path: style === 2 ? site.search(random) : site.every(page++) });
  }
}

/** Somebody's script on a campus: behind the same address as hundreds who do nothing wrong. */
export function* insider(span: Span, index: number): Sequence {
  const address = addresses.campus(index);
  const raid = raidOf(span, { who: "insider", abuse: "scraping", index, address, pace: [3, 10] });
  const send = raid.as({ userAgent: raid.random.pick(libraries) });
  let page = raid.random.whole(0, 2000);
  for (const at of raid.times) yield send({ at, path: site.every(page++) });
}

/** Four pages a minute, another browser each time: slower than many a reader. Hard. */
export function* slowScraper({ seed, from, to }: Span, index: number): Sequence {
  const name = `slow-scraper-${index}`;
  const random = seededRandom(seed, name);
  const truth: Truth = { client: name, who: "scraper", abuse: "scraping", isHard: true };
  let page = random.whole(0, 2000);
  for (let at = from + random.wait(15_000); at < to; at += random.between(10_000, 20_000)) {
    const ip = addresses.abuser(200 + index);
    yield clientOf({ truth, ip, userAgent: browserOf(random) })({ at, path: site.every(page++) });
  }
}

const holes = [
  "/.env",
  "/.git/config",
  "/wp-login.php",
  "/wp-admin/setup-config.php",
  "/xmlrpc.php",
  "/phpmyadmin/index.php",
  "/vendor/phpunit/phpunit/src/Util/PHP/eval-stdin.php",
  "/cgi-bin/luci",
  "/actuator/env",
  "/server-status",
  "/backup.sql",
  "/admin.php",
  "/shell.php",
];
const probingTools = [
  "Mozilla/5.00 (Nikto/2.1.6) (Evasions:None) (Test:000001)",
  "Nuclei - Open-source project (github.com/projectdiscovery/nuclei)",
];

/** Asks for what is not there, under a scanner's name or a browser's. Every other path is one that nobody would foresee. */
export function* prober(span: Span, index: number): Sequence {
  const address = addresses.abuser(60 + index);
  const raid = raidOf(span, { who: "prober", abuse: "probing", index, address, pace: [0.5, 4] });
  const { random, times } = raid;
  const send = raid.as({ userAgent: index % 2 === 0 ? random.pick(probingTools) : browserOf(random) });
  for (const at of times) {
    const path = random.chance(0.5) ? random.pick(holes) : `/${random.whole(1, 1e6).toString(36)}.php`;
    yield send({ at, path, status: 404 });
  }
}

/** One page, again and again, as fast as it goes. */
export function* hammerer(span: Span, index: number): Sequence {
  const address = addresses.abuser(100 + index);
  const raid = raidOf(span, { who: "hammerer", abuse: "hammering", index, address, pace: [3, 15] });
  const send = raid.as({ userAgent: browserOf(raid.random) });
  const path = raid.random.pick(["/", "/search?q=a", "/products/7"]);
  for (const at of raid.times) yield send({ at, path });
}
