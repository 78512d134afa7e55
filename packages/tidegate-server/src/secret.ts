import { createHash, timingSafeEqual } from "node:crypto";
import { inspect } from "node:util";

/** A text that is used and never shown: in logs, JSON and messages it is `[secret]`. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** For the one place that has to send it. */
  reveal(): string {
    return this.#text;
  }

  /** Takes the same time whatever is guessed. */
  equals(guess: string): boolean {
    return timingSafeEqual(digestOf(this.#text), digestOf(guess));
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }

  [inspect.custom](): string {
    return "[secret]";
  }
}

/** So short that somebody may have made it up, and others find it by trying as fast as they can. Ours are longer. */
export function isGuessable(token: string): boolean {
  return token.length < 16;
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
