import { TidegateError } from "tidegate";

/** A place that refuses offenders before their requests come here: a proxy, a cache, a CDN. */
export interface Edge {
  readonly name: string;
  readonly abilities: EdgeAbilities;
  /**
   * What stands there now, read from the edge itself. One that can not list its entries answers for those asked about.
   * Throws when it can not tell.
   */
  current(asked: readonly string[], signal: AbortSignal): Promise<EdgeState>;
  /**
   * Makes the changes, in the order given: removals, then entries. Doing the same again changes nothing. Throws when the outcome
   * is unknown: it is then read again.
   */
  apply(changes: EdgeChanges, signal: AbortSignal): Promise<EdgeOutcome>;
  /** Keeps the entries, whatever the mode. */
  setMode(mode: EdgeMode, signal: AbortSignal): Promise<void>;
  /** How long the last change took to arrive, where the edge can measure it. */
  propagationMs?(): number | undefined;
  /** What people have to look at though the edge does as it is told: shown as an alarm as long as it is so. */
  problem?(): string | undefined;
  close(): Promise<void>;
}

/** `"on"` refuses who is held, `"shadow"` says who would be refused and lets him pass, `"off"` does neither. */
export type EdgeMode = "on" | "shadow" | "off";

export const edgeModes: readonly EdgeMode[] = ["on", "shadow", "off"];

export interface EdgeAbilities {
  /** Whether this edge knows clients by such keys. */
  takes(key: string): boolean;
  /** Of ours and of others together. */
  readonly maxEntries: number;
  /** Changes one `apply` takes. */
  readonly maxBatch: number;
  /** False: `current` only answers for what it is asked about. */
  readonly isListable: boolean;
  /** From an `apply` that succeeded until every part of the edge knows. */
  readonly delayMs: number;
}

export interface EdgeEntry {
  /** A canonical address or block, or a digest in lower-case hex: never what a client wrote. */
  readonly key: string;
  /** Milliseconds since the epoch; the entry ends by itself then. */
  readonly until: number;
}

export interface EdgeState {
  /** Ours: key to `until`. An edge may keep whole seconds, rounded up. */
  readonly entries: ReadonlyMap<string, number>;
  /** Entries somebody else put there: counted, never touched. */
  readonly foreign: number;
  /** Another one than last time: the edge may have lost what it was told. */
  readonly epoch: string;
  /** Undefined: the edge does not know any more. */
  readonly mode?: EdgeMode;
}

export interface EdgeChanges {
  readonly remove: readonly string[];
  readonly put: readonly EdgeEntry[];
}

export interface EdgeOutcome {
  /** Keys the edge will not take, for their own sake: trying again would not help. */
  readonly refused: readonly RefusedKey[];
  /** Keys not yet told, because the edge takes no more writes before `resumeAt`. */
  readonly left: readonly string[];
  readonly resumeAt?: number;
}

export interface RefusedKey {
  readonly key: string;
  readonly why: string;
}

/** An IP address or block in its one spelling. Nothing else reads like it. */
const addressShape =
  /^(?:\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?|(?=[0-9a-f:.]*:)[0-9a-f:.]{2,45}(?:\/\d{1,3})?)$/;
/** SHA-256, or SHA-1 in the seed's form. */
const digestShape = /^(?:[0-9a-f]{64}|[0-9a-f]{40})$/;

/** Only such keys ever reach an edge: nothing in them can end a word, a line or a command. */
export function isEdgeKey(key: string): boolean {
  return isAddressKey(key) || isDigestKey(key);
}

export function isAddressKey(key: string): boolean {
  return addressShape.test(key);
}

export function isDigestKey(key: string): boolean {
  return digestShape.test(key);
}

/** An edge that did not do, or say, what it was asked. */
export class EdgeError extends TidegateError {
  readonly edge: string;
  /** Trying again later may help. */
  readonly transient: boolean;

  constructor(code: string, edge: string, message: string, help: string, transient: boolean) {
    super(code, `${edge}: ${message}`, help);
    this.edge = edge;
    this.transient = transient;
  }
}

/** What is wrong and what to do, without the edge's name, which whoever tells it says anyway. */
export function problemWords(error: unknown, edge: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const words = error instanceof TidegateError ? message.replace(` [${error.code}]`, "") : message;
  return words.startsWith(`${edge}: `) ? words.slice(edge.length + 2) : words;
}
