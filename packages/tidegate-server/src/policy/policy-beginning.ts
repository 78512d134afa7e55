import type { Policy } from "tidegate";
import { type PolicyVersion, type PolicyVersions, policyDigest } from "../data.js";
import type { Log } from "../log.js";
import { faultOf, isUnreachable, reasonOf, unusableError } from "./policy-errors.js";
import type { PolicyFile } from "./policy-file.js";
import type { PolicyHistory } from "./policy-history.js";
import type { PolicyInForce } from "./policy-in-force.js";

export interface PolicyBeginningOptions {
  readonly policies: PolicyVersions;
  readonly history: PolicyHistory;
  readonly inForce: PolicyInForce;
  readonly parse: (text: string) => Policy;
  readonly file: PolicyFile | undefined;
  readonly demoText: string | undefined;
  readonly who: string;
  readonly log: Log;
}

/** With which policy a process begins, and how a file becomes one. */
export interface PolicyBeginning {
  /** The file if it is new, else the newest version, else the demo. Throws what is wrong with the first of them there is. */
  begin(): Promise<void>;
  /** Without the versions, which are out of reach: the file or the demo, for now. Traffic does not wait for them. */
  beginWithout(error: unknown): void;
  /** A bad file throws; a good one that was taken in before changes nothing. */
  takeInFile(who: string): Promise<void>;
  /** Whoever reads the file is to know that it does not rule. */
  tellIfBehind(): void;
}

export function policyBeginning(options: PolicyBeginningOptions): PolicyBeginning {
  const { policies, history, inForce, parse, file, demoText, who: starter, log } = options;

  async function takeInFile(who: string): Promise<void> {
    if (file === undefined) return;
    const wasRefused = file.isRefused;
    const { text, digest, policy } = file.read();
    try {
      const isTakenIn = async (): Promise<boolean> => (await policies.newestFrom("file"))?.digest === digest;
      const version = await history.addUnless(isTakenIn, { text, who, source: "file" });
      if (version !== undefined) inForce.put(version, policy);
      if (wasRefused) log.info({ file: file.path }, "the policy file can be used again");
    } catch (error) {
      file.failed(error);
      throw error;
    }
  }

  function tellIfBehind(): void {
    const { version } = inForce;
    if (version === undefined || file?.status(version.digest).state !== "behind") return;
    const { id, who, source } = version;
    log.warn(
      { file: file.path, version: id, who, source },
      "the policy file is behind: it was taken in before, and another policy was put in force since; change the file and it is taken in again",
    );
  }

  /** Without a file people are told of the demo's policy. */
  function tellIfNotDemo({ text, id, who, source }: PolicyVersion): void {
    if (demoText !== undefined && text !== demoText)
      log.warn(
        { version: id, who, source },
        "there is no policy file, and the data has a policy of its own: that one rules, not the demo's; another --data, on Redis another store.prefix, begins anew",
      );
  }

  /** Answers what is wrong with the file, if something is. */
  async function tryFile(): Promise<{ readonly error: unknown } | undefined> {
    try {
      await takeInFile(starter);
      return undefined;
    } catch (error) {
      if (isUnreachable(error)) throw error;
      return { error };
    }
  }

  function beginWith(newest: PolicyVersion): void {
    try {
      inForce.put(newest);
    } catch (error) {
      throw unusableError(newest.id, error);
    }
  }

  async function beginWithDemo(text: string): Promise<void> {
    const policy = parse(text);
    const isThereOne = async (): Promise<boolean> => (await policies.newest()) !== undefined;
    const added = await history.addUnless(isThereOne, { text, who: starter, source: "demo" });
    const version = added ?? (await policies.newest());
    if (version !== undefined) inForce.put(version, added && policy);
  }

  return {
    takeInFile,
    tellIfBehind,
    async begin() {
      const refused = await tryFile();
      if (inForce.isStored) return;
      const newest = await policies.newest();
      if (refused !== undefined) {
        if (newest === undefined) throw refused.error;
        log.error(
          { ...faultOf(refused.error), file: file?.path },
          "the policy file is refused; the newest version rules",
        );
      }
      if (newest !== undefined) {
        beginWith(newest);
        tellIfBehind();
        tellIfNotDemo(newest);
      } else if (demoText !== undefined) await beginWithDemo(demoText);
      else inForce.lags("No policy version is stored yet.");
    },
    beginWithout(error) {
      log.error({ err: error }, "policy versions can not be read; the policy at hand rules until they can");
      const text = file?.read().text ?? demoText;
      if (text !== undefined) {
        const source = file === undefined ? "demo" : "file";
        inForce.put({ id: 0, text, digest: policyDigest(text), at: Date.now(), who: starter, source });
      }
      inForce.lags(reasonOf(error));
    },
  };
}
