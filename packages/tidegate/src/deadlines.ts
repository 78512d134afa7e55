import { StoreError } from "./errors.js";

/**
 * Races promises against one common deadline. One timer serves them all, made before any request and only wound up
 * again, so that no request's async context hangs on it.
 */
export class Deadlines {
  readonly #deadlineMs: number;
  readonly #tickMs: number;
  readonly #timer: Timer;
  #waiting: Race[] = [];
  #first = 0;
  #open = 0;
  #woundAt = 0;
  #isGraced = false;

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
    this.#tickMs = Math.max(1, deadlineMs / 8);
    this.#timer = new Timer(() => this.#tick(), this.#tickMs);
  }

  /** Settles as `answer` does, or rejects at the deadline, after calling `onLate`. */
  race<T>(answer: Promise<T>, onLate?: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (error: unknown) => {
        onLate?.();
        reject(error);
      };
      const now = performance.now();
      const race: Race = { due: now + this.#deadlineMs, reject: late };
      this.#waiting.push(race);
      if (this.#open++ === 0) this.#wind(now);
      answer.then(
        (value) => {
          this.#close(race);
          resolve(value);
        },
        (error) => {
          this.#close(race);
          reject(error);
        },
      );
    });
  }

  #close(race: Race): void {
    if (race.reject === undefined) return;
    race.reject = undefined;
    if (--this.#open === 0) {
      this.#waiting = [];
      this.#first = 0;
      this.#timer.stop();
    }
  }

  #wind(now: number): void {
    this.#woundAt = now;
    this.#timer.start();
  }

  #tick(): void {
    if (this.#open === 0) return;
    const now = performance.now();
    // If it is this process that stood still, answers may lie here unread: they get one more turn.
    this.#isGraced = !this.#isGraced && now - this.#woundAt > 4 * this.#tickMs;
    if (!this.#isGraced) this.#rejectOverdue(now);
    if (this.#open > 0) this.#wind(now);
  }

  #rejectOverdue(now: number): void {
    while (this.#first < this.#waiting.length) {
      const race = this.#waiting[this.#first] as Race;
      if (race.reject !== undefined) {
        if (race.due > now) break;
        const { reject } = race;
        this.#close(race);
        reject(overdue(this.#deadlineMs));
        if (this.#open === 0) return;
      }
      this.#first++;
    }
    if (this.#first > 1024) {
      this.#waiting = this.#waiting.slice(this.#first);
      this.#first = 0;
    }
  }
}

/** All races of one `Deadlines` take equally long, so the oldest is always due first. */
interface Race {
  readonly due: number;
  /** Gone once it is over. */
  reject: ((error: unknown) => void) | undefined;
}

type Handle = ReturnType<typeof setTimeout> & { refresh?: () => void; ref?: () => void; unref?: () => void };

class Timer {
  readonly #act: () => void;
  readonly #ms: number;
  #handle: Handle | undefined;

  constructor(act: () => void, ms: number) {
    this.#act = act;
    this.#ms = ms;
    try {
      this.#handle = setTimeout(act, ms) as Handle;
      this.stop();
    } catch {
      // Workers have no timers while a module loads. There it is made with the first start.
    }
  }

  start(): void {
    if (typeof this.#handle?.refresh === "function") {
      this.#handle.refresh();
      this.#handle.ref?.();
    } else {
      clearTimeout(this.#handle);
      this.#handle = setTimeout(this.#act, this.#ms) as Handle;
    }
  }

  /** A stopped timer may fire once more, to no effect; it does not keep the process alive. */
  stop(): void {
    if (typeof this.#handle?.unref === "function") this.#handle.unref();
    else clearTimeout(this.#handle);
  }
}

function overdue(deadlineMs: number): StoreError {
  return new StoreError(
    "TG_STORE_DEADLINE",
    "store",
    `no answer within ${deadlineMs} ms.`,
    "See why the store is slow; deadlineMs says how long decisions wait.",
    {
      transient: true,
    },
  );
}
