import type { Random } from "./random.js";

const products = 2000;
const articles = 800;
const words = "shirt shoes lamp chair desk phone case cable bag watch ring bottle mug book pen".split(" ");
const colours = "red blue green black white grey pink brown yellow purple".split(" ");

/** Of the site that is asked: a shop with a blog, a search and a login. */
export const site = {
  /** What people look at: few pages often, many seldom. */
  page(random: Random): string {
    const kind = random.next();
    if (kind < 0.2) return "/";
    if (kind < 0.55) return `/products/${popular(random, products)}`;
    if (kind < 0.75) return `/articles/${popular(random, articles)}`;
    if (kind < 0.9) return site.search(random);
    return random.pick(["/about", "/contact", "/cart", "/account", "/delivery"]);
  },
  search: (random: Random): string =>
    `/search?q=${random.pick(colours)}+${random.pick(words)}${random.chance(0.3) ? `+${random.whole(1, 999)}` : ""}`,
  /** The n-th of all pages, for those who want them all. */
  every: (n: number): string =>
    n % 7 < 5 ? `/products/${n % products}` : `/articles/${(n * 13) % articles}`,
  /** What a page brings along the first time. */
  shared: [
    "/assets/app-3f9c1d.css",
    "/assets/vendor-8a01be.js",
    "/assets/app-77d2c0.js",
    "/assets/inter-400.woff2",
    "/assets/inter-700.woff2",
    "/assets/logo.svg",
    "/assets/icons.svg",
    "/assets/consent-1c9e22.js",
    "/favicon.ico",
  ] as readonly string[],
  image: (random: Random): string => `/images/${random.whole(1, 6000)}-${random.whole(1, 4)}.webp`,
};

/** The third power: the first tenth of all pages gets nearly half of the visits. */
function popular(random: Random, count: number): number {
  const place = random.next();
  return Math.floor(count * place * place * place);
}
