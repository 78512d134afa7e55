import { type CustomerRecord, TidegateError } from "tidegate";

/** A primary record of customers. It is asked in rounds and on writes, never for a request. Every call ends by itself. */
export interface CustomerSource {
  readonly kind: "sql" | "http";
  /** All rows, some at a time, as they come: nothing is believed of them yet. Throws a `SourceError` when out of reach. */
  rows(signal: AbortSignal): AsyncIterable<readonly unknown[]>;
  /** Replaces one customer's record. Throws a `SourceError`. */
  write(id: string, record: CustomerRecord): Promise<void>;
  close(): Promise<void>;
}

/**
 * What is known of a call that failed. `"refused"`: it was understood and turned down, and will be again. `"unreached"`: it was
 * not carried out. `"unknown"`: nobody can say.
 */
export type SourceOutcome = "refused" | "unreached" | "unknown";

export class SourceError extends TidegateError {
  readonly outcome: SourceOutcome;
  /** The same call may succeed later. */
  readonly transient: boolean;
  /** In a few words, without secrets. */
  readonly reason: string;

  constructor(outcome: SourceOutcome, reason: string) {
    const text = brief(reason);
    if (outcome === "refused") {
      super(
        "TG_CUSTOMERS_REFUSED",
        `The customers' primary database refused the change: ${text}.`,
        "Nothing was changed. Change the customer there, or what is asked for.",
      );
    } else {
      super(
        "TG_CUSTOMERS_UNREACHABLE",
        `The customers' primary database did not do it: ${text}.`,
        "See that it is up and that customers.source names it; limits hold as last known.",
      );
    }
    this.outcome = outcome;
    this.transient = outcome !== "refused";
    this.reason = text;
  }
}

/** How long one exchange with a source may take, and connecting to it. */
export const exchangeMs = 10_000;
export const connectMs = 5_000;
/** Of a write: with connecting, less than the ten seconds the command waits for an answer. */
export const writeMs = 4_000;

/** What another program said, on one short line, and without what stands before an `@` in an address. */
function brief(text: string): string {
  return text
    .replace(/\/\/[^\s/@]*@/g, "//")
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ")
    .slice(0, 200)
    .replace(/[.\s]+$/, "");
}

export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join(", ");
  return error instanceof Error ? error.message : String(error);
}
