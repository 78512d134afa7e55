import { connect } from "node:net";

/** One connection to the listener for orders, on which they go one behind the other. Once it has failed it takes no more. */
export interface OrderLine {
  /** Sent and not answered yet. */
  readonly underWay: number;
  readonly isOpen: boolean;
  /** Rejects with what went wrong with the line: `LineClosed` when the other side ended it, `AlienAnswer`. */
  send(request: string): Promise<Answer>;
  close(): void;
}

export interface Answer {
  readonly status: number;
  /** By its name in lower case. */
  header(name: string): string | undefined;
}

export interface OrderLineOptions {
  readonly host: string;
  readonly port: number;
  /** Without an answer for so long the line has failed. */
  readonly patienceMs: number;
}

const endOfHead = "\r\n\r\n";
/** Our VCL answers in a few lines. */
const longestAnswer = 16_384;

/** Those sent in one turn of the event loop leave in one piece. */
export function openOrderLine({ host, port, patienceMs }: OrderLineOptions): OrderLine {
  const socket = connect({ host, port, noDelay: true }).setEncoding("latin1");
  let waiting: { readonly resolve: (answer: Answer) => void; readonly reject: (error: Error) => void }[] = [];
  let unsent = "";
  let text = "";
  let isOpen = true;

  function fail(error: Error): void {
    if (!isOpen) return;
    isOpen = false;
    socket.destroy();
    for (const { reject } of waiting) reject(error);
    waiting = [];
  }

  function flush(): void {
    if (isOpen) socket.write(unsent, "latin1");
    unsent = "";
  }

  /** False: there is no whole answer yet, or the line has failed. */
  function takeAnswer(): boolean {
    const end = text.indexOf(endOfHead);
    if (end < 0) return false;
    const answer = readHead(text.slice(0, end));
    const length = Number(answer?.header("content-length") ?? Number.NaN);
    const asked = waiting[0];
    if (answer === undefined || asked === undefined || !(length >= 0 && length <= longestAnswer)) {
      fail(new AlienAnswer());
      return false;
    }
    const whole = end + endOfHead.length + length;
    if (text.length < whole) return false;
    text = text.slice(whole);
    waiting.shift();
    asked.resolve(answer);
    if (answer.header("connection") === "close") fail(new LineClosed());
    return isOpen;
  }

  socket.setTimeout(patienceMs, () => fail(new Error(`silent for ${patienceMs} ms`)));
  socket.once("error", (error: NodeJS.ErrnoException) =>
    fail(error.code === "ECONNRESET" || error.code === "EPIPE" ? new LineClosed() : error),
  );
  socket.once("close", () => fail(new LineClosed()));
  socket.on("data", (piece: string) => {
    text += piece;
    while (takeAnswer());
    if (text.length > 2 * longestAnswer) fail(new AlienAnswer());
  });
  return {
    get underWay() {
      return waiting.length;
    },
    get isOpen() {
      return isOpen;
    },
    send: (request) =>
      new Promise((resolve, reject) => {
        if (unsent === "") setImmediate(flush);
        unsent += request;
        waiting.push({ resolve, reject });
      }),
    close: () => fail(new Error("closed")),
  };
}

/** Whoever answers there is not our VCL. */
export class AlienAnswer extends Error {
  constructor() {
    super("an answer that is not our VCL's");
  }
}

export class LineClosed extends Error {
  constructor() {
    super("the connection was closed");
  }
}

function readHead(head: string): Answer | undefined {
  const status = Number(head.slice(9, 12));
  if (!head.startsWith("HTTP/1.1 ") || !(status >= 200 && status < 600)) return undefined;
  const lower = head.toLowerCase();
  return {
    status,
    header(name) {
      const at = lower.indexOf(`\r\n${name}:`);
      if (at < 0) return undefined;
      const end = head.indexOf("\r\n", at + 2);
      return head.slice(at + name.length + 3, end < 0 ? undefined : end).trim();
    },
  };
}
