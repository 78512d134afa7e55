import { assembleGate, decideAtOnce } from "../assemble-gate.js";
import type { Decision } from "../decision.js";
import type { Directory } from "../directory.js";
import type { Policy, Warning } from "../gate.js";
import type { Client } from "../policy/client.js";
import { memoryDirectory } from "../policy/lists/memory-directory.js";
import type { Answer } from "../store.js";
import { memoryStore } from "../stores/memory/memory-store.js";
import type { Subject } from "../subject.js";
import type { RehearsalOptions } from "./rehearsal.js";
import type { Running } from "./running.js";
import type { VirtualTime } from "./virtual-time.js";
import { virtualWaitingRoom } from "./virtual-waiting-room.js";

export interface RehearsalGateTerms {
  readonly time: VirtualTime;
  readonly running: Running;
  readonly tell: (ip: string) => Client;
  readonly hasShortFingerprints: boolean;
  readonly warn: (warning: Warning) => void;
}

/** The real gate, in memory and on virtual time. */
export interface RehearsalGate {
  decide(subject: Subject): Answer<Decision>;
  /** Whether it had more to remember than its store holds. */
  readonly isFull: boolean;
  close(): Promise<void>;
}

export function rehearsalGate(
  policy: Policy,
  { identity, gate = {}, tierOf }: RehearsalOptions,
  { time, running, tell, hasShortFingerprints, warn }: RehearsalGateTerms,
): RehearsalGate {
  const store = memoryStore({ clock: time.clock, maxKeys });
  const assembled = assembleGate(
    {
      ...policy,
      ...gate,
      ...(identity && { identity }),
      ...(tierOf && { directory: directoryOf(tierOf) }),
      store,
      onWarning: warn,
    },
    {
      openStore: () => memoryStore({ clock: time.clock }),
      tell,
      room: virtualWaitingRoom(time, running, gate.maxDelayed),
      isWatched: false,
      hasShortFingerprints,
    },
  );
  return {
    decide: decideAtOnce(assembled),
    get isFull() {
      return store.size >= maxKeys;
    },
    close: () => assembled.close(),
  };
}

/** As a gate's own store has it by default. */
const maxKeys = 1_000_000;

function directoryOf(tierOf: (customer: string) => string | undefined): Directory {
  const directory = memoryDirectory();
  return {
    ...directory,
    customer(id) {
      const tier = tierOf(id);
      return tier === undefined ? undefined : { tier };
    },
  };
}
