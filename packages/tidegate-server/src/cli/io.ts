import { createInterface } from "node:readline/promises";

/** What a command reads and writes. Handed in, so that tests can listen. */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether a person sits there to be asked. */
  readonly canAsk: boolean;
  /** One line, in answer to this; undefined when they left. */
  ask(question: string): Promise<string | undefined>;
  /** Aborted when the person has seen enough. */
  readonly interrupted: AbortSignal;
  /** What is piped in, as bytes. Undefined: nothing can be. */
  input?(): AsyncIterable<Uint8Array>;
  /** Tells every key as it is pressed, unechoed, until the answered function is called. Undefined: there is no keyboard. */
  keys?(listener: (key: string) => void): () => void;
}

export interface Output {
  write(text: string): void;
  readonly isTTY: boolean;
  /** Width of the terminal, in characters. */
  readonly columns?: number;
  readonly rows?: number;
}

export function processIo(): Io {
  const interruption = new AbortController();
  return {
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    env: process.env,
    cwd: process.cwd(),
    canAsk: process.stdin.isTTY === true && process.stderr.isTTY === true,
    async ask(question) {
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return await lines.question(question, { signal: interruption.signal });
      } catch {
        return undefined;
      } finally {
        lines.close();
      }
    },
    get interrupted() {
      if (!interruption.signal.aborted) process.once("SIGINT", () => interruption.abort());
      return interruption.signal;
    },
    input: () => process.stdin,
    ...(process.stdin.isTTY === true && { keys: keysOf }),
  };
}

function keysOf(listener: (key: string) => void): () => void {
  const { stdin } = process;
  const hear = (pressed: Buffer): void => {
    for (const key of pressed.toString()) listener(key);
  };
  stdin.setRawMode(true);
  stdin.on("data", hear).resume();
  return () => {
    stdin.off("data", hear).pause();
    stdin.setRawMode(false);
  };
}

function outputOf(stream: NodeJS.WriteStream): Output {
  return {
    write: (text) => void stream.write(text),
    get isTTY() {
      return stream.isTTY === true;
    },
    get columns() {
      return stream.columns ?? 80;
    },
    get rows() {
      return stream.rows ?? 24;
    },
  };
}
