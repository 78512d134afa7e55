import type { Client } from "../policy/client.js";
import type { Subject } from "../subject.js";
import { ClientRow } from "./client-row.js";
import { KeyCounts } from "./key-counts.js";
import type { KeyId } from "./key-id.js";
import { ownText } from "./own-text.js";

/** What whom a rule counts under this key is called in a report. */
export type NameOf = (rule: number, key: string, subject: Subject, client: Client) => string;

/**
 * Clients that were refused, by the rule and key they were counted under. Requests of all clients are counted in a sketch, so
 * that what a client sent before its first refusal is known when it comes; by name only the refused ones are kept, and of
 * these so many: when there are more, those refused least are let go.
 */
export class ClientBook {
  /** Rows let go: those told of may have been refused more often than it says. */
  dropped = 0;
  readonly #most: number;
  readonly #counts = new KeyCounts();
  readonly #rows = new Map<number, ClientRow>();
  /** One bit for each row, by its hash: most requests are nobody's who was refused. */
  readonly #known = new Int32Array(2 ** 15);

  readonly #nameOf: NameOf;

  constructor(nameOf: NameOf = (_, key) => key, most = 50_000) {
    this.#nameOf = nameOf;
    this.#most = most;
  }

  /** A request judged under this key. */
  meet(id: KeyId, subject: Subject): void {
    this.#counts.add(id.low, id.high);
    if (((this.#known[(id.low & 0xf_ffff) >>> 5] as number) & (1 << (id.low & 31))) === 0) return;
    const row = this.#rows.get(id.number);
    if (row === undefined) return;
    row.requests++;
    row.watch(subject);
  }

  /** The row of whom the request met last under this key is, now that it is refused in the name of this rule. */
  refuse(id: KeyId, rule: number, key: string, client: Client, subject: Subject): ClientRow {
    return this.#rows.get(id.number) ?? this.#open(id, rule, key, client, subject);
  }

  #open(id: KeyId, rule: number, key: string, client: Client, subject: Subject): ClientRow {
    if (this.#rows.size >= this.#most) this.#dropSome();
    const row = new ClientRow({
      rule,
      client: ownText(this.#nameOf(rule, key, subject, client)),
      address: ownText(client.ip),
      userAgent: ownText(subject.header("user-agent") ?? ""),
      requests: Math.max(1, this.#counts.of(id.low, id.high)),
    });
    row.watch(subject);
    this.#rows.set(id.number, row);
    (this.#known[(id.low & 0xf_ffff) >>> 5] as number) |= 1 << (id.low & 31);
    return row;
  }

  /** The most refused first, as many as asked for. */
  top(count: number): ClientRow[] {
    return this.rows()
      .sort((a, b) => b.refused - a.refused || a.firstRefusedAt - b.firstRefusedAt)
      .slice(0, count);
  }

  rows(): ClientRow[] {
    return [...this.#rows.values()];
  }

  #dropSome(): void {
    const byRefusals = [...this.#rows].sort(([, a], [, b]) => a.refused - b.refused);
    const few = Math.max(1, Math.ceil(this.#most / 8));
    for (const [number] of byRefusals.slice(0, few)) this.#rows.delete(number);
    this.dropped += few;
  }
}
