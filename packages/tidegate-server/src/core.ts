import { createGate, type Gate, memoryDirectory, type Policy } from "tidegate";
import type { Closing } from "./closing.js";
import type { Loaded } from "./config/load-config.js";
import { parsePolicy } from "./config/parse-policy.js";
import { type Counts, openCounts } from "./counts.js";
import { openEmbeddedData } from "./data/embedded-data.js";
import { type FirstLists, firstLists } from "./data/first-lists.js";
import { openRedisData } from "./data/redis-data.js";
import type { Data } from "./data.js";
import { validateForDecide } from "./decide/validate-for-decide.js";
import type { Log } from "./log.js";
import { keepPolicy, type PolicyKeeper } from "./policy/keep-policy.js";
import { rereadFile } from "./reread-file.js";
import type { Settings } from "./settings.js";

/** What every part of the server stands on: where counts and data are, the gate, and who keeps its policy. */
export interface Core {
  readonly counts: Counts;
  readonly data: Data;
  readonly gate: Gate;
  readonly lists: FirstLists;
  readonly keeper: PolicyKeeper;
  /** Reads a policy's text and judges it as if it were to rule here; throws what is wrong. */
  parse(text: string): Policy;
}

export interface CoreOptions {
  readonly loaded: Loaded;
  readonly log: Log;
  readonly closing: Closing;
  /** False in a worker: the file is another process's to take in. */
  readonly readsFile: boolean;
  /** How long to wait for Redis and its lists, both together: what is not there by then comes beside the traffic. */
  readonly withinMs: number;
}

export async function openCore(options: CoreOptions): Promise<Core> {
  const { loaded, log, closing, readsFile, withinMs } = options;
  const { settings, policyText, file } = loaded;
  const until = Date.now() + withinMs;
  const counts = await openCounts(settings.store, log, withinMs);
  closing.add("store", () => counts.close());
  const data = await openData(settings, counts, log);
  closing.add("data", () => data.close());

  const parse = (text: string): Policy => {
    const policy = parsePolicy(text);
    validate(policy, settings, counts);
    return policy;
  };
  const lists = firstLists();
  if (!counts.isThere) lists.unreachable();
  const gate = createGate({
    ...parse(policyText),
    store: counts.store,
    directory: data.directory,
    identity: settings.identity,
    ...settings.failure,
    onWarning({ code, message, help }) {
      if (code === "TG_DIRECTORY_UNREACHABLE") lists.unreachable();
      // Whoever read the file has told what stands in it.
      if (!loaded.warnings.some((told) => told.code === code && told.message === message))
        log.warn({ code, help }, message);
    },
  });
  closing.add("gate", () => gate.close());
  void gate.ready.then(lists.loaded);
  await lists.settled(until - Date.now());
  await warmUp(gate, log);

  const keeper = await keepPolicy({
    policies: data.policies,
    audit: data.audit,
    parse,
    apply: (policy) => gate.update(policy),
    log,
    ...(readsFile && file !== undefined && { file: { path: file, read: rereadFile(loaded, log) } }),
    ...(readsFile && file === undefined && { demoText: policyText }),
  });
  closing.add("policy", () => keeper.close());
  return { counts, data, gate, lists, keeper, parse };
}

/** The first question opens connections and compiles code: no client is to wait for that. */
async function warmUp(gate: Gate, log: Log): Promise<void> {
  await gate
    .explain({ ip: "127.0.0.1" })
    .catch((error) => log.warn({ err: error }, "the store does not answer yet"));
}

/** All that a gate on this very store would object to, without touching the one in force. */
function validate(policy: Policy, settings: Settings, { store }: Counts): void {
  if (settings.listen.decide !== undefined) validateForDecide(policy, settings);
  void createGate({ ...policy, store, directory: memoryDirectory(), onWarning: () => {} }).close();
}

async function openData(settings: Settings, { redis }: Counts, log: Log): Promise<Data> {
  if (redis === undefined) return openEmbeddedData(settings.dataDir);
  const { client, prefix } = redis;
  return openRedisData({
    client,
    prefix,
    directory: redis.openDirectory(),
    onError: (error) => log.warn({ err: error }, "what is kept in Redis can not be watched"),
  });
}
