import { tellApp } from "../app-functions.js";
import type { GateEvents, Warning } from "../gate.js";

type Listener<Name extends keyof GateEvents> = (event: GateEvents[Name]) => void;

/** Who wants to know what. */
export class Events {
  readonly #listeners = new Map<keyof GateEvents, Set<Listener<never>>>();

  on<Name extends keyof GateEvents>(name: Name, listener: Listener<Name>): () => void {
    let listeners = this.#listeners.get(name);
    if (listeners === undefined) {
      listeners = new Set();
      this.#listeners.set(name, listeners);
    }
    listeners.add(listener as Listener<never>);
    return () => listeners.delete(listener as Listener<never>);
  }

  /** Whether anyone would hear: an event nobody hears need not be made. */
  has(name: keyof GateEvents): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  emit<Name extends keyof GateEvents>(name: Name, event: GateEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      tellApp(`a listener of "${name}"`, () => (listener as Listener<Name>)(event));
    }
  }
}

export interface Warner {
  /** Each thing to look at once. */
  warn(warning: Warning): void;
  /** What begins again is told again. */
  warnAgain(warning: Warning): void;
}

export function warner(events: Events, onWarning: (warning: Warning) => void): Warner {
  const told = new Set<string>();

  function warnAgain(warning: Warning): void {
    tellApp("onWarning", () => onWarning(warning));
    events.emit("warning", warning);
  }

  return {
    warnAgain,
    warn(warning) {
      const name = `${warning.code} ${warning.message}`;
      if (told.has(name) || told.size >= mostTold) return;
      told.add(name);
      warnAgain(warning);
    },
  };
}

const mostTold = 1000;
