import { StoreError } from "../../errors.js";

/** What went wrong between this process and memcached, in the words of the store. */
export function unreachable(message: string, cause?: unknown): StoreError {
  return new StoreError(
    "TG_STORE_UNREACHABLE",
    "memcached",
    message,
    "See that memcached is up and reachable.",
    { transient: true, cause },
  );
}

/** The call was not sent, or was taken back. */
export function tooLate(): StoreError {
  return new StoreError(
    "TG_STORE_LATE",
    "memcached",
    "the deadline passed before memcached had answered.",
    "memcached or the way to it was slow; deadlineMs says how long decisions wait.",
    { transient: true },
  );
}

export function contended(tries: number): StoreError {
  return new StoreError(
    "TG_STORE_CONTENDED",
    "memcached",
    `someone else changed the same key ${tries} times in a row.`,
    "memcached does not suit a key that many processes count under at once: use redisStore.",
    { transient: true },
  );
}

/** It answers, but not as memcached 1.6 does. */
export function strangeReply(server: string, what: string): StoreError {
  return new StoreError(
    "TG_STORE_REPLY",
    "memcached",
    `${server} sent ${what}.`,
    "Tidegate speaks the meta protocol of memcached 1.6 and later, without authentication and TLS. See what listens there.",
    { transient: false },
  );
}

export function refusedCall(server: string, what: string): StoreError {
  return new StoreError(
    "TG_STORE_REFUSED",
    "memcached",
    `${server} could not carry out a command: ${what}.`,
    "See that memcached has memory left and was not started with -M.",
    { transient: true },
  );
}
