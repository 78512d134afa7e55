import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "tidegate";
import type { Edge, EdgeMode } from "../edge.js";
import type { Log } from "../log.js";
import type { Offender } from "../offenders.js";
import { bounded } from "./bounded.js";
import type { LoopData } from "./edge-facts.js";

/** What stands at the edges is taken for what was wished when the index was lost: nobody is let go, no edge switched on, by mistake. */
export interface Adoption {
  /** Begins, unless it is under way. */
  begin(): void;
  close(): Promise<void>;
}

export interface AdoptionOptions {
  readonly edges: readonly Edge[];
  readonly data: Pick<LoopData, "offenders" | "edgeBook">;
  readonly log: Log;
  readonly clock: Clock;
  readonly readMs: number;
  /** An edge out of reach for longer is gone without: what stands there is then not known. */
  readonly patienceMs: number;
  readonly onDone: () => void;
}

/** The rule of whoever was found at an edge, since nobody remembers the real one. */
export const adoptedRule = "adopted";
const retryMs = 500;

interface Standing {
  readonly found: Map<string, Offender>;
  readonly modes: Map<string, EdgeMode>;
}

const addedAtOnce = 200;

export function openAdoption(options: AdoptionOptions): Adoption {
  const { edges, data, log, clock, readMs, patienceMs, onDone } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let underWay: Promise<void> | undefined;

  async function adopt(): Promise<void> {
    if (await data.offenders.isComplete()) return;
    const { found, modes } = await readAll();
    if (signal.aborted) return;
    await adoptModes(modes);
    const cleared = new Set((await data.edgeBook.clears()).map(({ key }) => key));
    const known = new Set((await data.offenders.now()).map(({ key }) => key));
    const adopted = [...found.values()].filter(({ key }) => !cleared.has(key) && !known.has(key));
    for (let at = 0; at < adopted.length; at += addedAtOnce)
      await Promise.all(adopted.slice(at, at + addedAtOnce).map((each) => data.offenders.add(each)));
    await data.offenders.markComplete();
    log.info({ adopted: adopted.length, edges: edges.length }, "the index of offenders is complete");
    onDone();
  }

  async function readAll(): Promise<Standing> {
    const standing: Standing = { found: new Map(), modes: new Map() };
    const giveUpAt = performance.now() + patienceMs;
    let unread = edges;
    for (;;) {
      const answers = await Promise.all(unread.map((edge) => read(edge, standing)));
      unread = unread.filter((_, i) => !answers[i]);
      if (unread.length === 0 || signal.aborted) return standing;
      if (performance.now() >= giveUpAt) {
        const names = unread.map(({ name }) => name);
        log.warn({ edges: names }, "edges are out of reach: whom they alone know is not held any more");
        return standing;
      }
      await sleep(retryMs, undefined, { signal }).catch(() => {});
    }
  }

  async function read(edge: Edge, { found, modes }: Standing): Promise<boolean> {
    try {
      const { entries, mode } = await bounded(readMs, `${edge.name}: reading`, (gaveUp) =>
        edge.current([], gaveUp),
      );
      for (const [key, until] of entries) found.set(key, offenderAt(key, until, found.get(key)));
      if (mode !== undefined) modes.set(edge.name, mode);
      return true;
    } catch (error) {
      log.debug({ err: error, edge: edge.name }, "an edge can not be read yet");
      return false;
    }
  }

  /** Somebody once switched it off. */
  async function adoptModes(found: ReadonlyMap<string, EdgeMode>): Promise<void> {
    const set = await data.edgeBook.modes();
    for (const [edge, mode] of found) {
      if (mode === "on" || set.has(edge)) continue;
      await data.edgeBook.setMode(edge, { mode, who: adoptedRule, why: "found at the edge" });
    }
  }

  /** It goes to all edges: one that can not list its entries may have it too, and would be taken for one that has it by mistake. */
  function offenderAt(key: string, until: number, known: Offender | undefined): Offender {
    return {
      key,
      rule: adoptedRule,
      crossedAt: clock(),
      until: Math.max(until, known?.until ?? 0),
      score: 1,
      leaked: 0,
      edges: [],
      about: {},
    };
  }

  return {
    begin() {
      if (signal.aborted) return;
      underWay ??= adopt()
        .catch((error) => log.warn({ err: error }, "what stands at the edges could not be adopted"))
        .finally(() => {
          underWay = undefined;
        });
    },
    async close() {
      stopping.abort();
      await underWay;
    },
  };
}
