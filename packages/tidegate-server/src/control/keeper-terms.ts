/** How long things may take, in milliseconds. */
export interface KeeperTerms {
  /** A process that dies is replaced after this. */
  readonly leaseMs: number;
  /** With less than this left of it a lease is renewed: well above what one apply may take. */
  readonly renewMs: number;
  /** Without the lease it is tried so often. */
  readonly retryMs: number;
  readonly applyMs: number;
  /** Reading writes nothing, so it may take longer. */
  readonly readMs: number;
  /** After a failure, doubled each time up to the longest. */
  readonly backoffMs: number;
  readonly longestBackoffMs: number;
  readonly reportMs: number;
  /** An edge out of reach for longer holds up no others. */
  readonly patienceMs: number;
}

export const usualTerms: KeeperTerms = {
  leaseMs: 10_000,
  renewMs: 7_000,
  retryMs: 1_000,
  applyMs: 3_000,
  readMs: 8_000,
  backoffMs: 250,
  longestBackoffMs: 10_000,
  reportMs: 1_000,
  patienceMs: 30_000,
};
