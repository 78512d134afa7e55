import type { Clock } from "../clock.js";

/** Something that happens at a time to come. */
interface Event {
  readonly at: number;
  readonly act: () => void;
}

/** Time as recorded requests tell it, and what is to happen later. It never runs backwards. */
export class VirtualTime {
  now = 0;
  readonly clock: Clock = () => this.now;
  /** The soonest first; of one instant in the order they were planned. Few: those who wait. */
  readonly #events: Event[] = [];

  plan(afterMs: number, act: () => void): void {
    const event = { at: this.now + afterMs, act };
    let place = this.#events.length;
    while (place > 0 && (this.#events[place - 1] as Event).at > event.at) place--;
    this.#events.splice(place, 0, event);
  }

  /** When the next planned event happens; Infinity where none is. */
  get next(): number {
    return this.#events[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Goes on to the next planned event and lets it happen. */
  step(): void {
    const event = this.#events.shift();
    if (event === undefined) return;
    this.now = Math.max(this.now, event.at);
    event.act();
  }
}
