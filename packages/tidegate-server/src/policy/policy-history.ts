import type { AuditLog, PolicyVersion, PolicyVersions } from "../data.js";
import type { Log } from "../log.js";
import { conflictError, noSuchVersion, nothingBefore } from "./policy-errors.js";

export interface PolicyHistoryOptions {
  readonly policies: PolicyVersions;
  readonly audit: AuditLog;
  readonly log: Log;
}

export interface Draft extends Omit<PolicyVersion, "id" | "at" | "digest"> {
  /** The audit entry whose change this one takes back. */
  readonly undoes?: number;
}

/** Accepted versions as they are added and gone back to. Every one added leaves an audit entry. */
export interface PolicyHistory {
  /** Adds after this one, or throws a conflict; undefined for the very first. */
  addAfter(draft: Draft, after: number | undefined): Promise<PolicyVersion>;
  /** Adds after whichever is the newest. */
  addNext(draft: Draft): Promise<PolicyVersion>;
  /** The same, unless it is needless by the time it would be added. */
  addUnless(isNeedless: () => Promise<boolean>, draft: Draft): Promise<PolicyVersion | undefined>;
  get(id: number): Promise<PolicyVersion>;
  /** The policy that was in force before this one, whose text is another. */
  before(version: PolicyVersion): Promise<PolicyVersion>;
}

/** Only as many others can be faster in one moment. */
const mostTries = 20;

export function policyHistory({ policies, audit, log }: PolicyHistoryOptions): PolicyHistory {
  async function add(draft: Draft, after: number | undefined): Promise<PolicyVersion | undefined> {
    const version = await policies.add(draft, after);
    if (version === undefined) return undefined;
    const { who, why, source, id } = version;
    const entry = {
      who,
      what: `policy.${source}`,
      ...(why !== undefined && { why }),
      ...(after !== undefined && { before: after }),
      after: id,
      ...(draft.undoes !== undefined && { undoes: draft.undoes }),
    };
    // The version is there, with who, when and why: a failing audit does not undo that.
    await audit
      .add(entry)
      .catch((error) => log.error({ err: error, entry }, "audit entry could not be kept"));
    return version;
  }

  async function addUnless(
    isNeedless: () => Promise<boolean>,
    draft: Draft,
  ): Promise<PolicyVersion | undefined> {
    for (let tries = 1; ; tries++) {
      const newest = await policies.newest();
      if (await isNeedless()) return undefined;
      const version = await add(draft, newest?.id);
      if (version !== undefined) return version;
      if (tries === mostTries) throw conflictError((await policies.newest())?.id, newest?.id);
    }
  }

  /** Older ones, newest first. */
  async function* olderThan(id: number): AsyncGenerator<PolicyVersion> {
    for (let before = id; ; ) {
      const page = await policies.list({ before, most: 20 });
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      before = last.id;
    }
  }

  return {
    async addAfter(draft, after) {
      const version = await add(draft, after);
      if (version === undefined) throw conflictError((await policies.newest())?.id, after);
      return version;
    },
    async addNext(draft) {
      return (await addUnless(async () => false, draft)) as PolicyVersion;
    },
    addUnless,
    async get(id) {
      const version = await policies.get(id);
      if (version === undefined) throw noSuchVersion(id);
      return version;
    },
    async before(version) {
      // Who went back stands where that text stood first, so going back twice goes back two steps.
      let place = version;
      for await (const older of olderThan(version.id)) {
        if (place.source === "rollback" && older.digest === version.digest) place = older;
        else if (place.source !== "rollback" && older.digest !== version.digest) return older;
      }
      throw nothingBefore();
    },
  };
}
