import { offences } from "../algorithms/offences/offences.js";
import { parseDuration } from "../duration.js";
import { type Limit, rejectUnknownOptions } from "../limit.js";
import { compileKey, type KeyForm, type KeyMaker } from "./key.js";
import type { TrustOptions } from "./rule-options.js";

/**
 * Whom a rule spares. Trust is kept as a hold of a rule of its own, so that it lies in the store, ends by itself and is
 * asked about in the same act as everything else.
 */
export interface Trust {
  readonly rule: string;
  readonly keyOf: KeyMaker;
  readonly forMs: number;
}

/** Counts nothing: its verdict only says whether the key is held, which here means trusted. */
export const trustMark: Limit = offences({ after: 1, withinMs: 1, holdsMs: [1], forgetMs: 1 });

export function parseTrust(options: TrustOptions, rule: string, form: KeyForm, path: string): Trust {
  rejectUnknownOptions(options, ["by", "for"], path);
  return {
    rule: `${rule} trusts`.slice(0, 64),
    keyOf: compileKey(options.by, form, `${path}.by`),
    forMs: parseDuration(options.for, `${path}.for`),
  };
}
