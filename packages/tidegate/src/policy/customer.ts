import type { CustomerRecord } from "../directory.js";
import { HashedKey } from "../key-hash.js";
import type { Level } from "./tiers.js";

/** A customer as requests meet it: what is on record, and the hash of its id, under which rules count it. */
export class Customer extends HashedKey {
  /** Undefined: nothing is on record. */
  readonly record: CustomerRecord | undefined;
  /** When some of its record ends by itself. */
  readonly until: number;
  /** False once its record may have changed. */
  isCurrent = true;
  /** Its levels, and by which tiers, when last asked for: see tiers.ts. */
  levels: readonly Level[] | undefined = undefined;
  levelsBy: object | undefined = undefined;

  constructor(id: string, record: CustomerRecord | undefined) {
    super(id);
    this.record = record;
    this.until = record?.until ?? Number.POSITIVE_INFINITY;
  }
}
