/** One test of a scenario: what happens, line by line. */
export interface Script {
  readonly title: string;
  readonly lines: readonly Line[];
}

export interface Line {
  /** As written, for messages. */
  readonly text: string;
  /** Since the test's start. */
  readonly atMs: number;
  readonly act?: readonly string[];
  readonly request?: Request;
  /** What is expected, in the form `told` gives; undefined for an act that succeeds. */
  readonly answer: string | undefined;
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly facts: ReadonlyMap<string, string>;
  /** Sent so often at one instant, ... */
  readonly burst: number;
  /** ... so many times, ... */
  readonly times: number;
  /** ... so long apart. */
  readonly everyMs: number;
  readonly atOnce: boolean;
}

export function parseScripts(text: string): Script[] {
  const scripts: { title: string; lines: Line[] }[] = [];
  let atMs = 0;
  for (const line of text.split("\n").map((line) => line.trim())) {
    if (line === "" || line.startsWith("#")) continue;
    if (line.startsWith("== ")) {
      scripts.push({ title: line.slice(3), lines: [] });
      atMs = 0;
      continue;
    }
    const parsed = parseLine(line, atMs);
    atMs = parsed.atMs;
    const script = scripts.at(-1);
    if (script === undefined) throw new SyntaxError(`no "== title" stands above: ${line}`);
    script.lines.push(parsed);
  }
  return scripts;
}

function parseLine(text: string, beforeMs: number): Line {
  const [left = "", answer] = text.split(" -> ");
  const words = left.match(/(?:[^\s"]|"[^"]*")+/g)?.map((word) => word.replaceAll('"', "")) ?? [];
  const isTimed = durationPattern.test(words[0] ?? "");
  const atMs = isTimed ? durationMs(words.shift() as string) : beforeMs;
  if (words[0] === "!") return { text, atMs, act: words.slice(1), answer: answer?.trim() };
  if (answer === undefined) throw new SyntaxError(`no answer is expected: ${text}`);
  return { text, atMs, request: parseRequest(words, text), answer: sameDurations(answer.trim()) };
}

function parseRequest(words: readonly string[], text: string): Request {
  const [method, path, ...rest] = words;
  if (method === undefined || path === undefined) throw new SyntaxError(`not a request: ${text}`);
  const facts = new Map<string, string>();
  const counts: number[] = [];
  let everyMs = 0;
  let atOnce = false;
  for (let i = 0; i < rest.length; i++) {
    const word = rest[i] as string;
    const sign = word.indexOf("=");
    if (sign > 0) facts.set(word.slice(0, sign), word.slice(sign + 1));
    else if (/^x\d+$/.test(word)) counts.push(Number(word.slice(1)));
    else if (word === "every") everyMs = durationMs(rest[++i] ?? "");
    else if (word === "at" && rest[++i] === "once") atOnce = true;
    else throw new SyntaxError(`${word} is not understood: ${text}`);
  }
  const times = everyMs === 0 ? 1 : (counts.pop() ?? 1);
  return { method, path, facts, burst: counts.pop() ?? 1, times, everyMs, atOnce };
}

const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };
const durationPattern = /^(?:\d+(?:d|h|ms|m|s))+$/;

/** `1m30s` and `90s` are the same. */
export function durationMs(text: string): number {
  if (!durationPattern.test(text)) throw new SyntaxError(`${text} is not a duration`);
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)(d|h|ms|m|s)/g)) {
    sum += Number(amount) * unitMs[unit as keyof typeof unitMs];
  }
  return sum;
}

export function durationText(ms: number): string {
  if (ms === Number.POSITIVE_INFINITY) return "ever";
  let text = "";
  let rest = ms;
  for (const [unit, size] of Object.entries(unitMs)) {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) text += `${amount}${unit}`;
  }
  return text || "0s";
}

function sameDurations(answer: string): string {
  return answer.replaceAll(/ for (\w+)/g, (said, duration: string) =>
    duration === "ever" ? said : ` for ${durationText(durationMs(duration))}`,
  );
}
