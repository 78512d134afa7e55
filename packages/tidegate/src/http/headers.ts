import { type Decision, spokesman, type Verdict } from "../decision.js";
import { ConfigError, shown } from "../errors.js";

/**
 * `"draft-11"`: `RateLimit-Policy` and `RateLimit` as lists, one member per level. `"draft-7"`: the same names, one
 * level. `"draft-6"`: `RateLimit-Limit`, `-Remaining`, `-Reset`. `"legacy"`: the same three with `X-`, reset in epoch seconds.
 */
export type HeaderForm = "draft-11" | "draft-7" | "draft-6" | "legacy";

/** Which forms the client gets; false shows none. */
export type HeaderForms = HeaderForm | readonly HeaderForm[] | false;

export type Header = readonly [name: string, value: string];

/** Where headers are written as they are made. */
export interface LimitHeaderSink {
  setLimitHeader(name: string, value: string): void;
}

type Writer = (decision: Decision, sink: LimitHeaderSink) => void;

/** Answers the function that writes what a decision lets the client know of its limits. */
export function limitHeaderWriter(forms: HeaderForms = "draft-11"): Writer {
  const writers = parseForms(forms).map((form) => writerOf[form]);
  return (decision, sink) => {
    if (decision.exposed.length === 0 || isHiddenRefusal(decision)) return;
    for (const write of writers) write(decision, sink);
  };
}

/** Answers the function that says what a decision lets the client know of its limits. */
export function limitHeaders(forms?: HeaderForms): (decision: Decision) => readonly Header[] {
  const write = limitHeaderWriter(forms);
  return (decision) => {
    const headers: Header[] = [];
    write(decision, { setLimitHeader: (name, value) => headers.push([name, value]) });
    return headers;
  };
}

/** Refused by a rule that shows no numbers, or by nobody's count: then no other rule's numbers are shown either. */
export function isHiddenRefusal({ allowed, reason, verdict, exposed }: Decision): boolean {
  return !allowed && (reason === "degraded" || verdict === undefined || !exposed.includes(verdict));
}

/** Whole seconds, rounded up: who waits them never comes too early. */
export function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

const writerOf: Readonly<Record<HeaderForm, Writer>> = {
  "draft-11": writeDraft11,
  "draft-7": (decision, sink) => {
    const verdict = spokesman(decision.exposed);
    if (verdict === undefined) return;
    const { limit, remaining, resetSeconds } = numbersOf(verdict);
    sink.setLimitHeader("RateLimit-Policy", policyText(verdict));
    sink.setLimitHeader("RateLimit", `limit=${limit}, remaining=${remaining}, reset=${resetSeconds}`);
  },
  "draft-6": (decision, sink) => {
    const verdict = spokesman(decision.exposed);
    if (verdict === undefined) return;
    const { limit, remaining, resetSeconds } = numbersOf(verdict);
    sink.setLimitHeader("RateLimit-Policy", policyText(verdict));
    sink.setLimitHeader("RateLimit-Limit", `${limit}`);
    sink.setLimitHeader("RateLimit-Remaining", `${remaining}`);
    sink.setLimitHeader("RateLimit-Reset", `${resetSeconds}`);
  },
  legacy: (decision, sink) => {
    const verdict = spokesman(decision.exposed);
    if (verdict === undefined) return;
    const { limit, remaining, resetMs } = numbersOf(verdict);
    sink.setLimitHeader("X-RateLimit-Limit", `${limit}`);
    sink.setLimitHeader("X-RateLimit-Remaining", `${remaining}`);
    sink.setLimitHeader("X-RateLimit-Reset", `${whole(wholeSeconds(verdict.at + resetMs))}`);
  },
};

function writeDraft11({ exposed }: Decision, sink: LimitHeaderSink): void {
  const none = nobody;
  let row = none;
  let states = "";
  for (let i = 0; i < exposed.length; i++) {
    const verdict = exposed[i] as Verdict;
    if (verdict.shadow) continue;
    row = row.with(verdict);
    const state = stateOf(row, verdict);
    states = states === "" ? state : `${states}, ${state}`;
  }
  if (row === none) return;
  sink.setLimitHeader("RateLimit-Policy", row.policies);
  sink.setLimitHeader("RateLimit", gathered(states));
}

/** `"pro/60";r=42;t=30`. */
function stateOf(row: Row, { allowed, remaining, resetAfterMs, retryAfterMs }: Verdict): string {
  const left = allowed ? whole(remaining) : 0;
  const waitMs = allowed ? resetAfterMs : retryAfterMs;
  const seconds = waitMs === Number.POSITIVE_INFINITY ? never : whole(wholeSeconds(waitMs));
  const told = lately[(left * 31 + seconds) & (mostLately - 1)] as Told;
  if (told.row === row && told.left === left && told.seconds === seconds) return told.text;
  told.text = gathered(seconds === never ? `${row.name};r=${left}` : `${row.name};r=${left};t=${seconds}`);
  told.row = row;
  told.left = left;
  told.seconds = seconds;
  return told.text;
}

const never = -1;

/** Written over by the next: what is made anew and kept for a moment costs a collection of garbage more than what is let go at once. */
interface Told {
  row: Row | undefined;
  left: number;
  seconds: number;
  text: string;
}

const mostLately = 256;
/** What was told lately: many are told the same, all who come for the first time to begin with. */
const lately = Array.from(
  { length: mostLately },
  (): Told => ({ row: undefined, left: 0, seconds: 0, text: "" }),
);

/**
 * The same list of quoted names. V8 keeps a text as the parts it was put together from until a character of it is asked for;
 * Node asks for all of them by a regular expression, which has the parts put together by a much longer way.
 */
function gathered(list: string): string {
  return list.charCodeAt(0) === quote ? list : "";
}

const quote = 0x22;

/** Levels told together, and those of which one more was told: mostly the same levels follow each other. */
class Row {
  /** `"pro/60"`: its last level. */
  readonly name: string;
  readonly #before: Row | undefined;
  readonly #level: Level | undefined;
  /** By name and limit: customers' own limits share a name. */
  readonly #longer = new Map<string, Map<number, Row>>();
  #last: Row | undefined;
  #policies: string | undefined;

  constructor(before?: Row, level?: Level) {
    this.#before = before;
    this.#level = level;
    this.name = structuredString(level?.name ?? "");
  }

  /** `"pro/60";q=100;w=60` of each level. In one piece: Node looks at every character of it. */
  get policies(): string {
    this.#policies ??= gathered([...this.#levels()].reverse().join(", "));
    return this.#policies;
  }

  with(level: Level): Row {
    if (this.#last?.endsWith(level)) return this.#last;
    const known = this.#longer.get(level.name)?.get(level.limit);
    this.#last = known?.endsWith(level) ? known : this.#add(level);
    return this.#last;
  }

  #add({ name, limit, windowMs }: Level): Row {
    const row = new Row(this, { name, limit, windowMs });
    if (++rows > mostRows) {
      nobody = new Row();
      rows = 0;
      return row;
    }
    const byLimit = this.#longer.get(name) ?? new Map<number, Row>();
    this.#longer.set(name, byLimit.set(limit, row));
    return row;
  }

  endsWith({ name, limit, windowMs }: Level): boolean {
    const own = this.#level;
    return own !== undefined && own.name === name && own.limit === limit && own.windowMs === windowMs;
  }

  *#levels(): Iterable<string> {
    for (let row: Row = this; row.#before !== undefined; row = row.#before) {
      const { limit, windowMs } = row.#level as Level;
      yield `${row.name};q=${whole(limit)};w=${windowSeconds(windowMs)}`;
    }
  }
}

type Level = Pick<Verdict, "name" | "limit" | "windowMs">;

const mostRows = 4000;
let rows = 0;
let nobody = new Row();

/** RFC 9651 strings are printable ASCII; a quote and a backslash are escaped, anything else becomes `?`. */
function structuredString(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, "?").replace(/["\\]/g, "\\$&")}"`;
}

const largestInteger = 999_999_999_999_999;

/** RFC 9651 integers have 15 digits; half a call is none. */
function whole(value: number): number {
  return Math.min(Math.max(Math.floor(value), 0), largestInteger);
}

/** Fields know whole seconds from 1: a shorter window is shown as one of a second. */
function windowSeconds(windowMs: number): number {
  return Math.max(1, whole(wholeSeconds(windowMs)));
}

function policyText({ limit, windowMs }: Verdict): string {
  return `${whole(limit)};w=${windowSeconds(windowMs)}`;
}

/** For forms that know no "never" and no names: a refused client's reset is when it may come again. */
function numbersOf(verdict: Verdict): {
  limit: number;
  remaining: number;
  resetMs: number;
  resetSeconds: number;
} {
  const waitMs = verdict.allowed ? verdict.resetAfterMs : verdict.retryAfterMs;
  const resetMs = waitMs === Number.POSITIVE_INFINITY ? verdict.windowMs : waitMs;
  return {
    limit: whole(verdict.limit),
    remaining: verdict.allowed ? whole(verdict.remaining) : 0,
    resetMs,
    resetSeconds: whole(wholeSeconds(resetMs)),
  };
}

function parseForms(forms: HeaderForms): readonly HeaderForm[] {
  const list: readonly HeaderForm[] = forms === false ? [] : typeof forms === "string" ? [forms] : forms;
  const known = Object.keys(writerOf);
  if (!Array.isArray(list) || list.some((form) => !known.includes(form))) {
    const written = known.map((form) => JSON.stringify(form)).join(", ");
    throw new ConfigError(
      "TG_HEADERS",
      "headers",
      `${shown(forms)} names no such form.`,
      `Write ${written}, a list of these, or false.`,
    );
  }
  if (list.filter((form) => form !== "legacy").length > 1 || new Set(list).size < list.length) {
    throw new ConfigError(
      "TG_HEADERS",
      "headers",
      `${list.join(" and ")} write the same header.`,
      'Choose one draft; "legacy" may stand beside it.',
    );
  }
  return list;
}
