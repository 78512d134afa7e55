import { count } from "../words.ts";

/** "1 client", "2,000 clients". */
export function some(number: number, one: string): string {
  return `${count(number)} ${one}${number === 1 ? "" : "s"}`;
}

/** "3 %", "0.02 %", "less than 0.01 %": never 0 of something, never all of less. */
export function share(part: number): string {
  if (part === 0 || part === 1) return `${part * 100} %`;
  const percent = part * 100;
  if (percent < 0.01) return "less than 0.01 %";
  if (percent > 99.99) return "more than 99.99 %";
  return `${percent >= 10 && percent <= 99 ? percent.toFixed(0) : Number(percent.toFixed(2))} %`;
}

/** To the second, the same in every language and zone, so that it can be found in a log. */
export function instant(at: number | undefined): string {
  return at === undefined
    ? "–"
    : new Date(at)
        .toISOString()
        .replace("T", " ")
        .replace(/\.\d+Z$/, " UTC");
}
