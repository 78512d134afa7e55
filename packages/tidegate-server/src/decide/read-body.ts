import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Problem } from "../problem.js";
import { notJson, notUtf8, tooLarge } from "./problems.js";

const mostBodyBytes = 1_000_000;

const large = tooLarge(`A body has ${mostBodyBytes} bytes at most. Ask about fewer subjects at once.`);

/** Reads the body as JSON. Of a body that never ends nothing is heard: the listener's time-out closes it. */
export function readBody(
  req: IncomingMessage,
  onJson: (body: unknown) => void,
  onProblem: (problem: Problem) => void,
): void {
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let bytes = 0;

  function onData(chunk: Buffer): void {
    bytes += chunk.length;
    if (bytes > mostBodyBytes) {
      req.off("data", onData);
      req.off("end", onEnd);
      req.resume();
      onProblem(large);
    } else if (first === undefined) first = chunk;
    else if (rest === undefined) rest = [first, chunk];
    else rest.push(chunk);
  }

  function onEnd(): void {
    const whole = rest === undefined ? first : Buffer.concat(rest);
    const body = whole === undefined ? notJson : parsed(whole);
    if (body === notJson) onProblem(notJson);
    else if (body === notUtf8) onProblem(notUtf8);
    else onJson(body);
  }

  req.on("data", onData);
  req.on("end", onEnd);
}

/** What the bytes say, or the problem with them. */
function parsed(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) return notUtf8;
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return notJson;
  }
}
