/** Keeps files up with maps, beside the changes: nobody who is to be refused waits for a file. */
export interface FileKeeper {
  /** The files are behind from now on. */
  changed(): void;
  /** Throws what went wrong when they were last written; once. */
  verify(): void;
  /** Writes what is still to be written. */
  close(): Promise<void>;
}

export interface FileKeeperOptions {
  keep(): Promise<void>;
  /** Changes within so long are written together. Default 250. */
  readonly afterMs?: number;
}

export function openFileKeeper({ keep, afterMs = 250 }: FileKeeperOptions): FileKeeper {
  let timer: NodeJS.Timeout | undefined;
  let problem: unknown;
  let writing: Promise<void> = Promise.resolve();

  function write(): void {
    timer = undefined;
    writing = keep().catch((error) => {
      problem = error;
    });
  }

  return {
    changed() {
      timer ??= setTimeout(write, afterMs);
    },
    verify() {
      const found = problem;
      problem = undefined;
      if (found === undefined) return;
      timer ??= setTimeout(write, afterMs);
      throw found;
    },
    async close() {
      if (timer !== undefined) {
        clearTimeout(timer);
        write();
      }
      await writing;
    },
  };
}
