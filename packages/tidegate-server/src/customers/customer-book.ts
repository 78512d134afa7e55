import type { CustomerRecord } from "tidegate";

/** Customers as people see and change them, wherever their primary records are. */
export interface CustomerBook {
  /** What is in force here. */
  get(id: string): Promise<CustomerRecord | undefined>;
  /** Throws and changes nothing for a tier the policy does not have, or when the primary database says no. */
  setTier(id: string, tier: string | undefined): Promise<CustomerWrite>;
  /** Own limits by window in seconds, replacing the tier's; undefined brings the tier back. */
  setLimits(id: string, limits: Readonly<Record<number, number>> | undefined): Promise<CustomerWrite>;
  status(): CustomersStatus;
  close(): Promise<void>;
}

/**
 * `"done"`: written here and in the primary database. `"pending"`: noted, and not yet known to be in both (the database fell
 * silent in the middle of the write); it is finished by itself, in the next round.
 */
export interface CustomerWrite {
  readonly state: "done" | "pending";
}

export interface CustomersStatus {
  /** Undefined: customers live here only, and nothing is pulled. */
  readonly source?: "sql" | "http";
  /** How many customers the last whole pull brought; others may be on record here. */
  readonly pulled: number;
  /** Milliseconds since the epoch; undefined before the first whole pull. */
  readonly pulledAt?: number;
  /** Why the last round did not succeed. What is known stays in force. */
  readonly failure?: string;
  /** Rows of the last pull that say nothing: they change nothing. */
  readonly rejectedRows: number;
  /** Customers of the last pull in a tier the policy does not have: they get the default tier. */
  readonly unknownTiers: number;
  /** Writes that are not yet known to be in both places. */
  readonly pending: number;
}
