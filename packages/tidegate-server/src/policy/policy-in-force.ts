import type { Policy } from "tidegate";
import type { PolicyVersion } from "../data.js";
import type { Log } from "../log.js";
import { faultOf, reasonOf } from "./policy-errors.js";

export interface PolicyInForceOptions {
  readonly parse: (text: string) => Policy;
  readonly apply: (policy: Policy, version: PolicyVersion) => void;
  readonly log: Log;
}

/** The one policy that rules this process, and why it is not the newest, if it is not. */
export interface PolicyInForce {
  readonly version: PolicyVersion | undefined;
  /** False as long as it is none of those kept. */
  readonly isStored: boolean;
  readonly problem: string | undefined;
  is(version: PolicyVersion): boolean;
  /** Or throws, says so in the log, and leaves the old one. */
  put(version: PolicyVersion, policy?: Policy): void;
  /** Something keeps the newest from being in force. */
  lags(why: string): void;
}

export function policyInForce({ parse, apply, log }: PolicyInForceOptions): PolicyInForce {
  let current: PolicyVersion | undefined;
  let problem: string | undefined;

  return {
    get version() {
      return current;
    },
    get isStored() {
      return current !== undefined && current.id > 0;
    },
    get problem() {
      return problem;
    },
    is: ({ id, digest }) => id === current?.id && digest === current.digest,
    put(version, policy) {
      const { id, who, source } = version;
      try {
        apply(policy ?? parse(version.text), version);
      } catch (error) {
        problem = `Version ${id} can not be put in force: ${reasonOf(error)}`;
        log.error(
          { ...faultOf(error), version: id },
          "a policy version can not be put in force; the old one stays",
        );
        throw error;
      }
      current = version;
      problem = undefined;
      log.info({ version: id, who, source }, "policy in force");
    },
    lags(why) {
      problem = why;
    },
  };
}
