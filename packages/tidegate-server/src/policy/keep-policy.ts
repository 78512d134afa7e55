import type { Policy } from "tidegate";
import type { AuditLog, PolicyVersion, PolicyVersions } from "../data.js";
import type { Log } from "../log.js";
import { inTurn } from "./in-turn.js";
import { policyBeginning } from "./policy-beginning.js";
import { conflictError, faultOf, isPassing, isUnreachable, nothingBefore } from "./policy-errors.js";
import { type PolicyFileOptions, policyFile } from "./policy-file.js";
import { policyHistory } from "./policy-history.js";
import { policyInForce } from "./policy-in-force.js";
import type { PolicyStatus } from "./policy-status.js";
import { type WatchFileOptions, watchFile } from "./watch-file.js";

export interface KeepPolicyOptions {
  readonly policies: PolicyVersions;
  readonly audit: AuditLog;
  /** Throws for a text that can not be put in force here, and changes nothing: whatever it answers `apply` must accept. */
  readonly parse: (text: string) => Policy;
  readonly apply: (policy: Policy, version: PolicyVersion) => void;
  readonly log: Log;
  /** Taken in whenever its content is another than when it was last taken in. */
  readonly file?: PolicyFileOptions & Pick<WatchFileOptions, "pollMs" | "missingMs">;
  /** Becomes version 1 where there is none and no file. */
  readonly demoText?: string;
  /** Who takes in what is there at the start. Default `"file"` or `"demo"`. */
  readonly who?: string;
}

/** Keeps the newest accepted policy in force, whoever accepted it: this process, another one on the same data, or a file. */
export interface PolicyKeeper {
  status(): PolicyStatus;
  /** Reads the file again. A bad one is refused, and the refusal stands in the status; this does not throw. */
  reload(who: string): Promise<void>;
  /** Puts this text in force and keeps it. With `after` only if that is still the newest version. */
  takeIn(text: string, options: TakeInOptions): Promise<PolicyVersion>;
  /** Puts an older version's text in force again, as a new version. By default what was in force before the newest. */
  rollback(options: RollbackOptions): Promise<PolicyVersion>;
  close(): Promise<void>;
}

export interface TakeInOptions {
  readonly who: string;
  readonly why?: string;
  readonly after?: number;
  /** Default `"api"`. */
  readonly source?: PolicyVersion["source"];
}

export interface RollbackOptions {
  readonly to?: number;
  readonly who: string;
  readonly why?: string;
  /** Only if this is still the newest version. */
  readonly after?: number;
  /** The audit entry whose change this takes back. */
  readonly undoes?: number;
}

const tryAgainMs = 1_000;

export async function keepPolicy(options: KeepPolicyOptions): Promise<PolicyKeeper> {
  const { policies, audit, parse, apply, log, demoText } = options;
  const who = options.who ?? (options.file === undefined ? "demo" : "file");
  const history = policyHistory({ policies, audit, log });
  const inForce = policyInForce({ parse, apply, log });
  const file = options.file && policyFile(options.file, parse);
  const beginning = policyBeginning({ policies, history, inForce, parse, file, demoText, who, log });
  const turn = inTurn();
  const startedAt = Date.now();
  let tryingAgain: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** Another process's, or this one's own told back. The newest is asked for: what was told may be out of date by now. */
  async function follow(told: PolicyVersion): Promise<void> {
    if (inForce.is(told)) return;
    const newest = (await policies.newest().catch(() => undefined)) ?? told;
    if (inForce.is(newest)) return;
    try {
      inForce.put(newest);
    } catch {
      // Logged, and in the status.
    }
  }

  async function reload(by: string): Promise<void> {
    if (file === undefined) log.warn("there is no policy file to read again");
    try {
      await beginning.takeInFile(by);
      beginning.tellIfBehind();
    } catch (error) {
      log.error(
        { ...faultOf(error), file: file?.path },
        "the policy file is refused; the policy in force stays",
      );
      if (isPassing(error)) tryAgainLater(by);
    }
  }

  function tryAgainLater(by: string): void {
    if (isClosed || tryingAgain !== undefined) return;
    tryingAgain = setTimeout(() => {
      tryingAgain = undefined;
      turn(() => (inForce.isStored ? beginning.takeInFile(by) : beginning.begin())).catch((error) => {
        if (isPassing(error)) tryAgainLater(by);
        else log.error(faultOf(error), "the policy at hand goes on to rule");
      });
    }, tryAgainMs).unref();
  }

  async function begin(): Promise<void> {
    try {
      await beginning.begin();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      beginning.beginWithout(error);
      tryAgainLater(who);
    }
  }

  // Before anything is read, so that no change falls between.
  const stopFollowing = policies.watch((told) => void turn(() => follow(told)));
  const watching =
    options.file && watchFile({ ...options.file, onChange: () => void turn(() => reload("file")) });

  async function close(): Promise<void> {
    isClosed = true;
    stopFollowing();
    watching?.close();
    clearTimeout(tryingAgain);
    await turn.idle();
  }

  async function takeIn(
    text: string,
    { after, source = "api", ...by }: TakeInOptions,
  ): Promise<PolicyVersion> {
    const policy = parse(text);
    const draft = { text, source, ...by };
    const version = await (after === undefined ? history.addNext(draft) : history.addAfter(draft, after));
    inForce.put(version, policy);
    return version;
  }

  async function rollback({ to, after, ...by }: RollbackOptions): Promise<PolicyVersion> {
    const newest = await policies.newest();
    if (newest === undefined) throw nothingBefore();
    if (after !== undefined && after !== newest.id) throw conflictError(newest.id, after);
    const { text, digest } = await (to === undefined ? history.before(newest) : history.get(to));
    if (digest === newest.digest) return newest;
    const policy = parse(text);
    const version = await history.addAfter({ text, source: "rollback", ...by }, newest.id);
    inForce.put(version, policy);
    return version;
  }

  try {
    await turn(begin);
  } catch (error) {
    await close();
    throw error;
  }

  return {
    status: () => ({
      version: inForce.version?.id ?? 0,
      at: inForce.version?.at ?? startedAt,
      who: inForce.version?.who ?? who,
      source: inForce.version?.source ?? "file",
      ...(inForce.problem !== undefined && { problem: inForce.problem }),
      ...(file !== undefined && { file: file.status(inForce.version?.digest) }),
    }),
    reload: (by) => turn(() => reload(by)),
    takeIn: (text, by) => turn(() => takeIn(text, by)),
    rollback: (by) => turn(() => rollback(by)),
    close,
  };
}
