/** Keeps files up with maps, beside the changes: nobody who is to be refused waits for a file. */
export interface FileKeeper {
  /** The files are behind from now on. */
  changed(): void;
  /** What went wrong when they were last written; undefined: they are kept. */
  problem(): unknown;
  /** Writes them again if they could not be written. */
  retry(): void;
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
    writing = keep().then(
      () => {
        problem = undefined;
      },
      (error) => {
        problem = error;
      },
    );
  }

  return {
    changed() {
      timer ??= setTimeout(write, afterMs);
    },
    problem: () => problem,
    retry() {
      if (problem !== undefined) timer ??= setTimeout(write, afterMs);
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
