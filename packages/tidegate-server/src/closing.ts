import type { Log } from "./log.js";

/** What was opened, to be closed in the opposite order. One that fails to close keeps no other from it. */
export class Closing {
  readonly #steps: { what: string; close: () => unknown }[] = [];
  readonly #log: Log;
  #closed: Promise<void> | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  add(what: string, close: () => unknown): void {
    this.#steps.push({ what, close });
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    for (const { what, close } of this.#steps.reverse()) {
      try {
        await close();
      } catch (error) {
        this.#log.error({ err: error, what }, "could not be closed");
      }
    }
  }
}
