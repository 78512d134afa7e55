import type { Subject } from "tidegate";
import { nameText } from "../fact-text.js";

/** A header's value as callers write it: one line, or several. Whatever is neither says nothing. */
export type ToldHeaders = Readonly<Record<string, unknown>>;

/** A client as a caller describes it. */
export class ToldSubject implements Subject {
  readonly ip: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  /** What the app behind does is not known: in doubt a rule applies. */
  readonly ignoresCase = true;
  readonly user: string | undefined;
  readonly customer: string | undefined;
  readonly account: string | undefined;
  readonly #told: ToldHeaders | undefined;
  #headers: Map<string, string> | undefined;

  constructor(
    ip: string,
    told: {
      readonly method?: string | undefined;
      readonly host?: string | undefined;
      readonly path?: string | undefined;
      readonly user?: string | undefined;
      readonly customer?: string | undefined;
      readonly account?: string | undefined;
      readonly headers?: ToldHeaders | undefined;
    },
  ) {
    this.ip = ip;
    this.method = told.method ?? "GET";
    this.host = told.host ?? "";
    this.path = told.path ?? "/";
    this.user = told.user;
    this.customer = told.customer;
    this.account = told.account;
    this.#told = told.headers;
  }

  header(name: string): string | undefined {
    if (this.#told === undefined) return undefined;
    this.#headers ??= lowerCased(this.#told);
    return this.#headers.get(name.toLowerCase());
  }
}

/** Names in any case, several lines joined by a comma. */
function lowerCased(told: ToldHeaders): Map<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(told)) {
    const text = lineOf(value);
    if (text === undefined) continue;
    const lower = name.toLowerCase();
    const before = headers.get(lower);
    headers.set(lower, before === undefined ? text : `${before}, ${text}`);
  }
  return headers;
}

function lineOf(value: unknown): string | undefined {
  if (!Array.isArray(value)) return nameText(value);
  const lines = value.map(nameText).filter((line) => line !== undefined);
  return lines.length === 0 && value.length > 0 ? undefined : lines.join(", ");
}
