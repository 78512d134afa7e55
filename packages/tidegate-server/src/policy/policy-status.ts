import type { PolicyVersion } from "../data.js";

/** What is in force in this process, and what stands in its way. */
export interface PolicyStatus {
  /** 0: none of those stored, as long as that can not be read or there is none yet. */
  readonly version: number;
  readonly at: number;
  readonly who: string;
  readonly source: PolicyVersion["source"];
  /** Why the newest version is not in force here. */
  readonly problem?: string;
  readonly file?: PolicyFileStatus;
}

export interface PolicyFileStatus {
  readonly path: string;
  /** `"behind"`: another policy was put in force after this file's was. `"refused"`: it can not be used, and the old policy stays. */
  readonly state: "in force" | "behind" | "refused";
  readonly problem?: string;
  /** Line by line, as whoever read the file found them. */
  readonly problems?: readonly unknown[];
  /** Settings, by path, that the file has otherwise than this process runs with: they take effect at the next start. */
  readonly needsRestart?: readonly string[];
}
