import { ConfigError, type Explanation, TidegateError } from "tidegate";
import { decisionFrom, isFields } from "./decision-from.js";
import { NoAnswer, serviceCall, silent } from "./service-call.js";
import { toldSubject } from "./told-subject.js";
import type { AnsweredDecision, AskedOfMany, AskedSubject, AskOptions } from "./types.js";

export interface DecideClientOptions {
  /** Where the decision service listens, e.g. `http://127.0.0.1:8090`. */
  readonly url: string;
  /** The server's `decide.token`; not needed from its declared peers. */
  readonly token?: string;
  /** How long one question may take, all in all; each part of a `decideMany` is one. Default 40. */
  readonly timeoutMs?: number;
  /** What a decision is when the service is away: let in, refused, or an error. Default `"allow"`. A question it refuses is always an error. */
  readonly onFailure?: "allow" | "deny" | "throw";
  /** Told of each failure. Default: `console.warn`, once for each code. */
  readonly onError?: (error: TidegateError) => void;
  /** Connections kept at most. Default 32. */
  readonly connections?: number;
}

export interface DecideClient {
  /** Judges and charges. Refused is an answer: look at `allowed`. Throws where the service refuses the question itself. */
  decide(subject: AskedSubject, options?: AskOptions): Promise<AnsweredDecision>;
  /** The same for up to 1000 at once, in their order. */
  decideMany(subjects: readonly AskedOfMany[], options?: AskOptions): Promise<AnsweredDecision[]>;
  /** Says how a request ended, where the service wants to hear it. Without a status nobody answered. */
  finish(decision: AnsweredDecision, outcome?: { readonly status?: number }): Promise<void>;
  /** What would be decided, in words, free of charge. Throws when the service does not say. */
  explain(subject: AskedSubject): Promise<Explanation>;
  close(): Promise<void>;
}

/** Asks a decision service. Unless told otherwise it lets everybody in when the service is away, says so, and costs `timeoutMs` at most. */
export function decideClient(options: DecideClientOptions): DecideClient {
  rejectUnknown(options);
  const { timeoutMs = 40, onFailure = "allow", onError = warnOnce(), connections = 32, token } = options;
  validate(timeoutMs, onFailure);
  const service = serviceCall({ url: parseUrl(options.url), token, connections });

  /** What the service says, as `read` understands it, or what stands for it. */
  async function ask<T>(body: object, read: (said: unknown) => T | undefined, instead: () => T): Promise<T> {
    try {
      const answer = read(await service.post("/v1/decide", body, timeoutMs));
      if (answer === undefined) throw silent("its answer is no decision");
      return answer;
    } catch (error) {
      if (onFailure === "throw" || !(error instanceof NoAnswer)) throw error;
      onError(error);
      return instead();
    }
  }

  function degraded(): AnsweredDecision {
    const allowed = onFailure === "allow";
    return { id: "", allowed, reason: "degraded", verdicts: [], source: "none", delayedMs: 0, headers: {} };
  }

  /** More than fits into one question is asked in parts. */
  async function askMany(subjects: readonly object[], how?: AskOptions): Promise<AnsweredDecision[]> {
    try {
      return await ask(
        { ...how, subjects },
        (said) => decisionsFrom(said, subjects.length),
        () => subjects.map(degraded),
      );
    } catch (error) {
      const isTooLarge = error instanceof TidegateError && error.code === "TG_QUESTION_LARGE";
      if (!isTooLarge || subjects.length < 2) throw error;
      const half = Math.ceil(subjects.length / 2);
      const parts = [subjects.slice(0, half), subjects.slice(half)];
      return (await Promise.all(parts.map((part) => askMany(part, how)))).flat();
    }
  }

  return {
    decide: async (subject, how) => ask({ ...how, subject: toldSubject(subject) }, decisionFrom, degraded),
    decideMany: async (subjects, how) => askMany(subjects.map(toldSubject), how),
    async finish({ finish: id }, outcome) {
      if (id === undefined) return;
      try {
        await service.post("/v1/finish", { id, status: outcome?.status }, Math.max(timeoutMs, 1000));
      } catch (error) {
        if (onFailure === "throw" || !(error instanceof TidegateError)) throw error;
        onError(error);
      }
    },
    async explain(subject) {
      const said = await service.post(
        "/v1/explain",
        { subject: toldSubject(subject) },
        Math.max(timeoutMs, 1000),
      );
      if (!isFields(said) || typeof said.words !== "string") throw silent("its answer is no explanation");
      return said as unknown as Explanation;
    },
    close: () => service.close(),
  };
}

function decisionsFrom(said: unknown, count: number): AnsweredDecision[] | undefined {
  const sent = isFields(said) ? said.decisions : undefined;
  if (!Array.isArray(sent) || sent.length !== count) return undefined;
  const decisions = sent.map(decisionFrom);
  return decisions.includes(undefined) ? undefined : (decisions as AnsweredDecision[]);
}

function parseUrl(text: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text);
  throw new ConfigError(
    "TG_CLIENT",
    "url",
    "this is not where a decision service can be.",
    "Write e.g. http://127.0.0.1:8090.",
  );
}

const known = ["url", "token", "timeoutMs", "onFailure", "onError", "connections"];

/** A misspelt one would silently do nothing. */
function rejectUnknown(options: object): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new ConfigError(
      "TG_CLIENT",
      unknown.slice(0, 64),
      "there is no such option.",
      `Known: ${known.join(", ")}.`,
    );
}

function validate(timeoutMs: number, onFailure: string): void {
  if (!(timeoutMs > 0 && timeoutMs <= 2_147_483_647))
    throw new ConfigError("TG_CLIENT", "timeoutMs", "this is no time.", "Write milliseconds, above 0.");
  if (!["allow", "deny", "throw"].includes(onFailure))
    throw new ConfigError("TG_CLIENT", "onFailure", "this is no choice.", 'Use "allow", "deny" or "throw".');
}

function warnOnce(): (error: TidegateError) => void {
  const told = new Set<string>();
  return ({ code, message }) => {
    if (told.has(code)) return;
    told.add(code);
    console.warn(`Tidegate: ${message}`);
  };
}
