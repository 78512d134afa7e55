export type Limits = Readonly<Record<string, number>> | null;

const units: ReadonlyMap<string, number> = new Map(
  Object.entries({
    s: 1,
    second: 1,
    m: 60,
    min: 60,
    minute: 60,
    h: 3_600,
    hour: 3_600,
    d: 86_400,
    day: 86_400,
    w: 604_800,
    week: 604_800,
  }),
);

const form = /^(\d{1,12})\s*(?:\/|per\s|in\s)\s*(\d{1,9})?\s*([a-z]*)$/i;

/** One a line, as policies write them (`100 per minute`, `300 per 5m`) or `100 in 60`, which are seconds. None: null. */
export function readLimits(text: string): { readonly limits: Limits } | { readonly problem: string } {
  const lines = text.split("\n").map((line) => line.trim());
  const limits: Record<string, number> = {};
  for (const [index, line] of lines.entries()) {
    if (line === "") continue;
    const told = (words: string) => ({ problem: `Line ${index + 1}, "${line}": ${words}` });
    const [, limit, count, word = ""] = form.exec(line) ?? [];
    const unit = word === "" && count !== undefined ? 1 : unitOf(word);
    if (limit === undefined || unit === undefined)
      return told("write a number and a time, such as 100 per minute or 100 in 60 (seconds).");
    const seconds = Number(count ?? 1) * unit;
    if (seconds < 1) return told("the time has to be a second or more.");
    if (`${seconds}` in limits) return told(`there is a limit in ${seconds} s already.`);
    limits[seconds] = Number(limit);
  }
  return { limits: Object.keys(limits).length === 0 ? null : limits };
}

function unitOf(word: string): number | undefined {
  const name = word.toLowerCase();
  return units.get(name) ?? (name.length > 3 ? units.get(name.replace(/s$/, "")) : undefined);
}

/** The same, written. */
export function limitsText(limits: Limits): string {
  return Object.entries(limits ?? {})
    .map(([seconds, limit]) => `${limit} per ${perWords(Number(seconds))}`)
    .join("\n");
}

const words = ["second", "minute", "hour", "day", "week"] as const;

function perWords(seconds: number): string {
  const word = words.find((each) => units.get(each) === seconds);
  return word ?? `${seconds}s`;
}
