/** What was read, beside a report. */
export interface InputFacts {
  /** The policies' files, as they were named. */
  readonly policy?: string;
  readonly against?: string;
  readonly files: readonly FileFacts[];
  /** Of all files. */
  readonly lines: number;
  readonly malformed: number;
  readonly skipped: number;
  /** The first few lines that could not be read, their starts alone. None when anonymised. */
  readonly samples: readonly MalformedLine[];
}

export interface FileFacts {
  readonly name: string;
  readonly format: string;
  /** As stored. */
  readonly bytes: number;
  readonly lines: number;
  readonly requests: number;
  /** Lines that could not be read. */
  readonly malformed: number;
  /** Lines that are no requests and are not meant to be: comments, other events, what was never HTTP. */
  readonly skipped: number;
  /** Why not all of it was read, in words. */
  readonly problem?: string;
}

export interface MalformedLine {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}
