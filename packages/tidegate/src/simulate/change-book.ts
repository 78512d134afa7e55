import type { Subject } from "../subject.js";
import { Distinct } from "./distinct.js";
import { KeyCounts } from "./key-counts.js";
import type { KeyId } from "./key-id.js";
import { ownText } from "./own-text.js";
import type { ClientChange, PolicyChange } from "./rehearsal.js";

type Row = { -readonly [Name in keyof ClientChange]: ClientChange[Name] };

/** Whom two policies treat differently, by address. As in the client book, so many by name, and the least changed are let go. */
export class ChangeBook {
  dropped = 0;
  readonly #most: number;
  readonly #counts = new KeyCounts();
  readonly #rows = new Map<number, Row>();
  #refused = 0;
  #passed = 0;
  readonly #refusedClients = new Distinct(2 ** 18);
  readonly #passedClients = new Distinct(2 ** 18);

  constructor(most = 50_000) {
    this.#most = most;
  }

  count(id: KeyId, client: string, subject: Subject, passed: boolean, passedAgainst: boolean): void {
    this.#counts.add(id.low, id.high);
    if (passed === passedAgainst && this.#rows.size === 0) return;
    const number = id.number;
    let row = this.#rows.get(number);
    if (row !== undefined) row.requests++;
    if (passed === passedAgainst) return;
    row ??= this.#open(id, number, client, subject);
    if (passed) {
      this.#passed++;
      row.newlyPassed++;
      this.#passedClients.add(id.low, id.high);
    } else {
      this.#refused++;
      row.newlyRefused++;
      this.#refusedClients.add(id.low, id.high);
    }
  }

  #open(id: KeyId, number: number, client: string, subject: Subject): Row {
    if (this.#rows.size >= this.#most) this.#dropSome();
    const agent = subject.header("user-agent");
    const row: Row = {
      client: ownText(client),
      ...(agent !== undefined && agent !== "" && { userAgent: ownText(agent) }),
      requests: this.#counts.of(id.low, id.high),
      newlyRefused: 0,
      newlyPassed: 0,
    };
    this.#rows.set(number, row);
    return row;
  }

  report(count: number): PolicyChange {
    return {
      newlyRefused: { requests: this.#refused, clients: this.#refusedClients.count },
      newlyPassed: { requests: this.#passed, clients: this.#passedClients.count },
      worst: [...this.#rows.values()]
        .sort((a, b) => changes(b) - changes(a))
        .slice(0, count)
        .map((row) => ({ ...row })),
    };
  }

  #dropSome(): void {
    const byChanges = [...this.#rows].sort(([, a], [, b]) => changes(a) - changes(b));
    const few = Math.max(1, Math.ceil(this.#most / 8));
    for (const [number] of byChanges.slice(0, few)) this.#rows.delete(number);
    this.dropped += few;
  }
}

function changes({ newlyRefused, newlyPassed }: ClientChange): number {
  return newlyRefused + newlyPassed;
}
