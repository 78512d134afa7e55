import type { Random } from "./random.js";

const windows = "Windows NT 10.0; Win64; x64";
const mac = "Macintosh; Intel Mac OS X 10_15_7";
const iphone = "iPhone; CPU iPhone OS 18_5 like Mac OS X";

/** Browsers as they call themselves, and how many of a hundred do. Real strings: half of all people share the first two. */
const browsers: readonly (readonly [share: number, userAgent: string])[] = [
  [30, chrome(windows, 138)],
  [14, chrome("Linux; Android 10; K", 138, " Mobile")],
  [12, safari(iphone, "18.5 Mobile/15E148")],
  [9, chrome(windows, 137)],
  [8, chrome(mac, 138)],
  [7, `${chrome(windows, 138)} Edg/138.0.0.0`],
  [6, safari(mac, "18.5")],
  [5, firefox(windows, 140)],
  [3, firefox("X11; Linux x86_64", 140)],
  [2, firefox("Macintosh; Intel Mac OS X 10.15", 139)],
  [2, chrome("X11; Linux x86_64", 138)],
  [2, `${chrome(windows, 137)} OPR/121.0.0.0`],
];
const total = browsers.reduce((sum, [share]) => sum + share, 0);

export function browserOf(random: Random): string {
  let left = random.next() * total;
  for (const [share, userAgent] of browsers) {
    left -= share;
    if (left < 0) return userAgent;
  }
  return (browsers[0] as readonly [number, string])[1];
}

/** One that is never the same: what a tool sends that changes its name with each request. */
export function madeUpBrowser(random: Random): string {
  return chrome(windows, random.whole(60, 138)).replace(
    ".0.0.0",
    `.0.${random.whole(1000, 7000)}.${random.whole(1, 200)}`,
  );
}

export const crawlers: readonly string[] = [
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/136.0.0.0 Safari/537.36",
  "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)",
  "DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)",
];

export const monitors: readonly string[] = [
  "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
  "Better Stack Better Uptime Bot Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
];

/** What honest programs and careless scrapers call themselves alike. */
export const libraries: readonly string[] = [
  "python-requests/2.32.3",
  "Go-http-client/1.1",
  "okhttp/4.12.0",
  "axios/1.7.2",
];

function chrome(system: string, version: number, mobile = ""): string {
  return `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0${mobile} Safari/537.36`;
}

function safari(system: string, version: string): string {
  const [number, device] = version.split(" ");
  return `Mozilla/5.0 (${system}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${number}${device === undefined ? "" : ` ${device}`} Safari/${device === undefined ? "605.1.15" : "604.1"}`;
}

function firefox(system: string, version: number): string {
  return `Mozilla/5.0 (${system}; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`;
}
