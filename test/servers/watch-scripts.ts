import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";

export interface Watched {
  /** What clients sent, as lists of words. */
  readonly outside: string[][];
  /** What scripts ran. */
  readonly inside: string[][];
}

/**
 * What this server is told about keys with a prefix while something happens. It speaks MONITOR itself: with a client's
 * own, a command of another connection may come before the client has understood the answer.
 */
export async function watchScripts(
  port: number,
  prefix: string,
  act: () => Promise<unknown>,
): Promise<Watched> {
  const socket = connect(port, "127.0.0.1");
  const lines = createInterface({ input: socket });
  const seen: Watched = { outside: [], inside: [] };
  const end = `end of ${prefix}`;
  socket.write("MONITOR\r\n");
  await once(lines, "line");
  const seenAll = new Promise<void>((resolve) => {
    lines.on("line", (line) => {
      const { words, isScript } = commandIn(line);
      if (words.includes(end)) resolve();
      else if (words.some((word) => word.startsWith(prefix)))
        seen[isScript ? "inside" : "outside"].push(words);
    });
  });
  await act();
  await echo(port, end);
  await seenAll;
  socket.destroy();
  return seen;
}

/** `+1700000000.123456 [0 127.0.0.1:5555] "get" "k"`, a script's commands with `[0 lua]`. */
function commandIn(line: string): { words: string[]; isScript: boolean } {
  const quoted = line.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  const [command = "", ...words] = quoted.map(unquoted);
  return { words: [command.toLowerCase(), ...words], isScript: /^\+\S+ \[\d+ lua\]/.test(line) };
}

function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\(x[0-9a-f]{2}|.)/g, (_, code: string) => {
    if (code.length === 3) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return { n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b" }[code] ?? code;
  });
}

async function echo(port: number, text: string): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`*2\r\n$4\r\nECHO\r\n$${Buffer.byteLength(text)}\r\n${text}\r\n`);
  await once(socket, "data");
  socket.destroy();
}
