import { AsyncResource } from "node:async_hooks";
import { connect, type Socket } from "node:net";
import type { StoreError } from "../../errors.js";
import { refusedCall, strangeReply, tooLate, unreachable } from "./failures.js";
import { flagOf, ProtocolError, type Reply, ReplyParser } from "./reply-parser.js";

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A command and who waits for its answer. */
interface Call {
  readonly text: string;
  /** Copied back by the server: proof that an answer is to this call and no other. */
  readonly opaque: string;
  /** The codes that can answer it, e.g. `"VA EN"`. */
  readonly answers: string;
  /** On performance.now(): afterwards it is not sent any more. */
  readonly notAfter: number;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: StoreError) => void;
}

/** A server that says nothing for so long while it owes an answer, or while we connect, is given up. */
const patienceMs = 2000;
const firstPauseMs = 50;
const longestPauseMs = 2000;
/** More calls than this do not wait for one server. */
const maxWaiting = 65_536;

/**
 * One server. Opens its socket when first asked, sends all commands of a tick in one write, and matches replies to calls
 * in order. A call whose connection breaks is rejected and never sent again: it may have been carried out.
 */
export class Connection {
  readonly name: string;
  readonly #address: Address;
  // Bound, so that no request's async context hangs on a socket or timer that serves them all.
  readonly #connect = AsyncResource.bind(() => this.#open());
  #socket: Socket | undefined;
  #watch: ReturnType<typeof setInterval> | undefined;
  #isReady = false;
  #isClosed = false;
  #isFlushing = false;
  /** Since the socket was opened, a call was answered. */
  #isProven = false;
  #epoch = 0;
  #unsent: Call[] = [];
  #sent: Call[] = [];
  #answered = 0;
  #serial = 0;
  #lastHeard = 0;
  #failures = 0;
  #retryAt = 0;
  #lastError: StoreError | undefined;

  constructor(address: Address) {
    this.#address = address;
    this.name = `${address.host}:${address.port}`;
  }

  /** Another number after every break. A server that restarted gives out the same cas numbers again. */
  get epoch(): number {
    return this.#epoch;
  }

  ask(command: string, body: string | undefined, answers: string, notAfter: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(unreachable("the client was closed."));
      if (this.#unsent.length >= maxWaiting)
        return reject(unreachable(`too many calls wait for ${this.name}.`));
      if (this.#socket === undefined) {
        if (performance.now() < this.#retryAt) return reject(this.#lastError as StoreError);
        this.#connect();
      }
      this.#serial = (this.#serial + 1) >>> 0;
      const opaque = this.#serial.toString(36);
      const text = body === undefined ? `${command} O${opaque}\r\n` : `${command} O${opaque}\r\n${body}\r\n`;
      this.#unsent.push({ text, opaque, answers, notAfter, resolve, reject });
      if (this.#isReady) this.#flushSoon();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#break(unreachable("the client was closed."));
  }

  #open(): void {
    const socket = connect({ ...this.#address, noDelay: true, keepAlive: true });
    const parser = new ReplyParser();
    const ifCurrent = (act: () => void) => () => {
      if (this.#socket === socket) act();
    };
    this.#socket = socket;
    this.#isProven = false;
    this.#lastHeard = performance.now();
    this.#watch = setInterval(() => this.#checkPatience(), patienceMs / 4).unref();
    socket.on(
      "connect",
      ifCurrent(() => this.#greet(socket)),
    );
    socket.on(
      "drain",
      ifCurrent(() => this.#flush()),
    );
    socket.on("error", (error) => {
      if (this.#socket === socket) this.#break(unreachable(`${this.name}: ${error.message}.`, error));
    });
    socket.on(
      "close",
      ifCurrent(() => this.#break(unreachable(`${this.name} closed the connection.`))),
    );
    socket.on("data", (chunk) => {
      this.#lastHeard = performance.now();
      try {
        parser.push(chunk, (reply) => {
          if (this.#socket === socket) this.#answer(reply);
        });
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        if (this.#socket === socket) this.#break(strangeReply(this.name, error.message));
      }
    });
  }

  /** Nothing else is said before the server has shown that it knows the meta protocol. */
  #greet(socket: Socket): void {
    const resolve = () => {
      this.#isReady = true;
      this.#flush();
    };
    this.#sent.push({ text: "", opaque: "", answers: "MN", notAfter: 0, resolve, reject: () => {} });
    socket.write("mn\r\n");
  }

  /** After everything this tick still has to say. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    process.nextTick(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushing = false;
    const socket = this.#socket;
    if (socket === undefined || !this.#isReady || socket.writableNeedDrain) return;
    const calls = this.#unsent;
    if (calls.length === 0) return;
    this.#unsent = [];
    const now = performance.now();
    if (this.#answered === this.#sent.length) {
      this.#lastHeard = now;
      socket.ref();
    }
    let text = "";
    for (const call of calls) {
      if (call.notAfter < now) {
        call.reject(tooLate());
        continue;
      }
      text += call.text;
      this.#sent.push(call);
    }
    if (text !== "") socket.write(text, "latin1");
  }

  #answer(reply: Reply): void {
    const call = this.#sent[this.#answered];
    if (call === undefined) throw new ProtocolError(`${reply.code} though nothing was asked`);
    const isAnswer = call.answers.includes(reply.code);
    if (!isAnswer && (reply.code !== "SERVER_ERROR" || !this.#isReady))
      throw new ProtocolError(`${JSON.stringify(`${reply.code} ${reply.rest}`.slice(0, 60))} as an answer`);
    // On a miss EN may stand alone; there is nothing in it to be taken for another's.
    const opaque = isAnswer ? (flagOf(reply, "O") ?? (reply.code === "EN" ? call.opaque : "")) : call.opaque;
    if (opaque !== call.opaque) throw new ProtocolError("the answer to another command");
    this.#forgetAnswered();
    if (this.#isReady) {
      this.#isProven = true;
      this.#failures = 0;
    }
    if (isAnswer) call.resolve(reply);
    else call.reject(refusedCall(this.name, reply.rest.slice(0, 60)));
  }

  #forgetAnswered(): void {
    this.#answered++;
    if (this.#answered === this.#sent.length) {
      this.#sent = [];
      this.#answered = 0;
      // An idle connection keeps no process alive.
      if (this.#unsent.length === 0 && this.#isReady) this.#socket?.unref();
    } else if (this.#answered > 1024) {
      this.#sent = this.#sent.slice(this.#answered);
      this.#answered = 0;
    }
  }

  #checkPatience(): void {
    const isOwing = !this.#isReady || this.#answered < this.#sent.length;
    if (isOwing && performance.now() - this.#lastHeard > patienceMs)
      this.#break(unreachable(`${this.name} said nothing for ${patienceMs} ms.`));
  }

  #break(error: StoreError): void {
    const calls = [...this.#sent.slice(this.#answered), ...this.#unsent];
    this.#socket?.destroy();
    clearInterval(this.#watch);
    this.#socket = undefined;
    this.#isReady = false;
    this.#epoch++;
    this.#sent = [];
    this.#unsent = [];
    this.#answered = 0;
    this.#lastError = error;
    // A connection that worked may be tried again at once; one that did not, less and less often.
    if (!this.#isProven) this.#failures++;
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#failures - 1));
    this.#retryAt = this.#failures === 0 ? 0 : performance.now() + pauseMs * (0.5 + Math.random() / 2);
    for (const call of calls) call.reject(error);
  }
}
