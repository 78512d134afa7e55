import { systemClock } from "./clock.js";
import type { Directory } from "./directory.js";
import type { FailureOptions } from "./failure-options.js";
import type { GateOptions, Warning } from "./gate.js";
import { type GuardedStore, guardStore } from "./guard.js";
import { parseStore } from "./limiter.js";
import { type Busiest, busiest } from "./policy/busiest.js";
import { type Client, clientTeller } from "./policy/client.js";
import { decisionIds } from "./policy/decision-ids.js";
import { Events, warner } from "./policy/events.js";
import { type GateSettings, parseSettings } from "./policy/gate-settings.js";
import { memoryDirectory } from "./policy/lists/memory-directory.js";
import { type Mirror, mirrorOf } from "./policy/lists/mirror.js";
import { type NewcomerCap, newcomerCap } from "./policy/newcomers.js";
import { type CompiledPolicy, compilePolicy, type PolicyTerms } from "./policy/policy.js";
import { returnWatch } from "./policy/return-watch.js";
import { crowdOf } from "./policy/rule-asks.js";
import type { Rule } from "./policy/rules.js";
import { Tally } from "./policy/tally.js";
import { WaitingRoom, type WaitsFor } from "./policy/waiting-room.js";
import type { Store } from "./store.js";

/** Where a gate gets what it was not given. */
export interface GateDefaults {
  readonly openStore: () => Store;
  /** Tells clients by their addresses, where somebody beside the gate asks the same. */
  readonly tell?: (ip: string) => Client;
  /** Where delayed requests wait, when time is not the machine's. */
  readonly room?: WaitsFor;
  /** False where nobody will ask who was busiest, nor for metrics. */
  readonly isWatched?: boolean;
  /** True where fingerprints need be known to this process only. */
  readonly hasShortFingerprints?: boolean;
}

/** All of a gate but its policy: where it counts, whom it knows, what it has counted and whom it tells. Gates may share it. */
export interface Surroundings {
  readonly settings: GateSettings;
  readonly terms: PolicyTerms;
  readonly store: GuardedStore;
  /** Whether the gate's clock is the store's too. */
  readonly isStoresTime: boolean;
  readonly directory: Directory;
  readonly mirror: Mirror;
  readonly tell: (ip: string) => Client;
  /** Undefined: newcomers are not capped. */
  readonly newcomers: NewcomerCap | undefined;
  readonly events: Events;
  readonly busy: Busiest;
  readonly tally: Tally;
  readonly room: WaitsFor;
  readonly nextId: () => string;
  readonly isWatched: boolean;
  readonly isDegraded: boolean;
  /** Of each gate here, the policy it has now: a rule may say itself what happens without the store. */
  readonly policies: Set<() => CompiledPolicy>;
  close(): Promise<void>;
}

/** With the first policy, which is found to be in order before anything is opened for it. */
export function gateSurroundings(
  options: GateOptions,
  defaults: GateDefaults,
): { readonly surroundings: Surroundings; readonly policy: CompiledPolicy } {
  const { openStore, isWatched = true, hasShortFingerprints = false } = defaults;
  const ownStore = options.store === undefined ? openStore() : undefined;
  const counts = parseStore(options.store, "createGate.store") ?? (ownStore as Store);
  const settings = parseSettings(options, counts);
  const { clock, newKeysPerSecond } = settings;
  const events = new Events();
  const { warn, warnAgain } = warner(events, settings.onWarning);
  let isDegraded = false;
  const failure = failureOptions(options, events, warn, (is) => {
    isDegraded = is;
    if (is) watch.begin();
    else watch.end();
  });
  const policies = new Set<() => CompiledPolicy>();
  const store = guardStore(counts, failure, openStore, (name) => ruleNamed(name, policies)?.onStoreFailure);
  const watch = returnWatch(store);
  const terms: PolicyTerms = {
    keyForm: { fingerprint: settings.identity.fingerprint, isShort: hasShortFingerprints },
    canFinish: settings.canFinish,
    capsNewKeys: newKeysPerSecond !== undefined,
    warn,
    accept: (limit) => store.accept?.(limit),
  };
  const policy = compilePolicy(options, terms);
  const directory = options.directory ?? counts.openDirectory?.() ?? memoryDirectory({ clock });
  const mirror = mirrorOf(directory, {
    now: clock,
    warn,
    warnAgain,
    ...(options.deadlineMs !== undefined && { deadlineMs: options.deadlineMs }),
  });
  const surroundings: Surroundings = {
    settings,
    terms,
    store,
    isStoresTime: clock === (counts.clock ?? systemClock),
    directory,
    mirror,
    tell: defaults.tell ?? clientTeller(settings.identity),
    newcomers: newKeysPerSecond === undefined ? undefined : newcomerCap({ perSecond: newKeysPerSecond }),
    events,
    busy: busiest(),
    tally: new Tally(),
    room: defaults.room ?? new WaitingRoom(settings.maxDelayed),
    nextId: decisionIds(),
    isWatched,
    get isDegraded() {
      return isDegraded;
    },
    policies,
    async close() {
      watch.close();
      mirror.close();
      if (options.directory === undefined) await directory.close?.();
      await ownStore?.close?.();
    },
  };
  return { surroundings, policy };
}

function failureOptions(
  options: GateOptions,
  events: Events,
  warn: (warning: Warning) => void,
  setDegraded: (isDegraded: boolean) => void,
): FailureOptions {
  const { deadlineMs, breaker, onStoreFailure } = options;
  return {
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(breaker !== undefined && { breaker }),
    ...(onStoreFailure !== undefined && { onStoreFailure }),
    onDegraded(error) {
      setDegraded(true);
      warn({
        code: "TG_DEGRADED",
        message: `The store is out of reach, and decisions are made without it: ${error instanceof Error ? error.message : error}`,
        help: "What happens meanwhile is said by onStoreFailure. See that the store can be reached; the end is told too.",
      });
      events.emit("degraded", { error });
      return options.onDegraded?.(error);
    },
    onRecovered() {
      setDegraded(false);
      events.emit("recovered", {});
      return options.onRecovered?.();
    },
  };
}

/** By its own name, or one under which it counts besides. */
function ruleNamed(name: string, policies: Iterable<() => CompiledPolicy>): Rule | undefined {
  for (const policyNow of policies) {
    const found = policyNow().rules.find((rule) =>
      [rule.name, crowdOf(rule.name), rule.trust?.rule].includes(name),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}
