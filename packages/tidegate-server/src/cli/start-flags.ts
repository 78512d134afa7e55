/** What `tidegate start` may be told; it wins over the file. */
export interface StartFlags {
  readonly config?: string;
  readonly redis?: string;
  readonly listen?: string;
  readonly admin?: string;
  readonly decide?: string;
  readonly upstream?: string;
  readonly data?: string;
  readonly workers?: string;
  readonly logLevel?: string;
}

/** Taken without being named. */
export const usualFile = "tidegate.yaml";
