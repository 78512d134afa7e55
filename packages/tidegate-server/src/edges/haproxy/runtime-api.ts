import { connect } from "node:net";
import { EdgeError } from "../../edge.js";

/** One connection to HAProxy's runtime API: one question at a time, until it is closed. */
export interface RuntimeApi {
  /** The answer without its end. With lines, they are the command's payload. */
  ask(command: string, lines?: readonly string[]): Promise<string>;
  /** As many at once as HAProxy takes in one message, with nobody else's command between them if it can be helped. */
  askAll(commands: readonly string[]): Promise<string[]>;
  /** For commands that answer only when something went wrong. */
  tell(command: string, lines?: readonly string[]): Promise<void>;
  close(): void;
}

export interface RuntimeApiOptions {
  readonly edge: string;
  /** A path, or `host:port`. */
  readonly socket: string;
}

/** Below HAProxy's `tune.bufsize` (16 kB), beyond which it breaks the connection. */
const messageBytes = 11_500;

/** What HAProxy writes when it is ready for the next command; no line of an answer begins like this. */
const prompt = "\n> ";

/** Connects, and stays connected until closed, or until the signal says that nobody waits any longer. */
export async function openRuntimeApi(
  { edge, socket: place }: RuntimeApiOptions,
  signal: AbortSignal,
): Promise<RuntimeApi> {
  signal.throwIfAborted();
  const socket = connect(connectionOf(place));
  socket.setNoDelay(true);
  let failed: Error | undefined;
  let wake = (): void => {};
  let pieces: Buffer[] = [];
  let tail = "";
  let awaited = 1;

  const fail = (error: Error): void => {
    failed ??= error;
    socket.destroy();
    wake();
  };
  const giveUp = (): void => fail(unreached(edge, `HAProxy at ${place} did not answer in time.`));
  signal.addEventListener("abort", giveUp, { once: true });
  socket.on("error", ({ message }) => fail(unreached(edge, `HAProxy at ${place}: ${message}.`)));
  socket.on("close", () => fail(unreached(edge, `HAProxy at ${place} closed the connection.`)));
  socket.on("data", (piece) => {
    pieces.push(piece);
    // The prompt may come in pieces.
    tail = (tail + piece.subarray(-prompt.length).toString("latin1")).slice(-prompt.length);
    if (tail === prompt && (awaited === 1 || promptsIn(pieces) === awaited)) wake();
  });

  const api: RuntimeApi = { ask, askAll, tell, close };
  try {
    await ask("prompt");
  } catch (error) {
    close();
    throw error;
  }
  return api;

  async function ask(command: string, lines?: readonly string[]): Promise<string> {
    for (const line of [command, ...(lines ?? [])]) mustBeOne(line);
    if (lines === undefined) return (await exchange(command, 1))[0] as string;
    const [answer = ""] = await exchange(`${command} <<\n${lines.join("\n")}\n`, 1);
    // Each line of a payload is asked for with a plus.
    return answer.replace(/^(?:\+ )+/, "");
  }

  async function askAll(commands: readonly string[]): Promise<string[]> {
    for (const command of commands) mustBeOne(command);
    const answers: string[] = [];
    let from = 0;
    while (from < commands.length) {
      let to = from;
      for (let bytes = 0; to < commands.length; to++) {
        bytes += (commands[to] as string).length + 2;
        if (bytes > messageBytes && to > from) break;
      }
      answers.push(...(await exchange(commands.slice(from, to).join("; "), to - from)));
      from = to;
    }
    return answers;
  }

  async function exchange(text: string, answers: number): Promise<string[]> {
    if (failed) throw failed;
    pieces = [];
    tail = "";
    const answered = new Promise<void>((resolve) => {
      wake = resolve;
    });
    awaited = answers;
    socket.write(Buffer.from(`${text}\n`, "latin1"));
    await answered;
    if (failed) throw failed;
    return Buffer.concat(pieces).toString("latin1").split(prompt).slice(0, answers);
  }

  async function tell(command: string, lines?: readonly string[]): Promise<void> {
    const answer = await ask(command, lines);
    if (answer !== "") throw refused(edge, command, answer.trim());
  }

  function close(): void {
    signal.removeEventListener("abort", giveUp);
    socket.removeAllListeners("close").destroy();
  }
}

function connectionOf(place: string): { path: string } | { host: string; port: number } {
  const [, host = "", port] = /^([^/]+):(\d+)$/.exec(place) ?? [];
  if (port === undefined) return { path: place };
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

function promptsIn(pieces: readonly Buffer[]): number {
  return Buffer.concat(pieces).toString("latin1").split(prompt).length - 1;
}

/** Nothing in it starts another command, a payload or a comment. */
function mustBeOne(line: string): void {
  if (line === "" || /[\r\n;\\]|<</.test(line)) throw new RangeError("This would be more than one command.");
}

function unreached(edge: string, message: string): EdgeError {
  return new EdgeError(
    "TG_EDGE_UNREACHED",
    edge,
    message,
    "Nothing is known of what was sent: the edge is read again and set right. See that it runs, and that `stats socket` names the place the settings name.",
    true,
  );
}

export function refused(edge: string, command: string, answer: string): EdgeError {
  const shown = `HAProxy said to \`${command.slice(0, 80)}\`: ${answer.slice(0, 200)}`;
  if (/^Unknown map identifier/.test(answer))
    return new EdgeError(
      "TG_EDGE_SETUP",
      edge,
      shown,
      "Put what `tidegate edge render haproxy` writes into HAProxy's configuration, with the same folder of maps.",
      false,
    );
  return new EdgeError(
    "TG_EDGE_UNREACHED",
    edge,
    shown,
    "The edge is read again and set right. If HAProxy says so again, see that its `stats socket` has `level admin`.",
    true,
  );
}
