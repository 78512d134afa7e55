import type { Problem } from "../problem.js";
import { problems } from "./problems.js";

/** As metrics name it. */
export type ErrorKind = "connect" | "broke" | "timeout" | "busy" | "unhealthy";

export interface UpstreamError {
  readonly kind: ErrorKind;
  readonly problem: Problem;
  /** Nothing was sent: another origin may be asked whatever the method is. */
  readonly isUnsent: boolean;
  /** The connection ended before an answer began, as kept connections sometimes do. */
  readonly isClosed: boolean;
}

const unreachable: UpstreamError = {
  kind: "connect",
  problem: problems.unreachable,
  isUnsent: true,
  isClosed: false,
};
const slowToConnect: UpstreamError = {
  kind: "timeout",
  problem: problems.slow,
  isUnsent: true,
  isClosed: false,
};
const slow: UpstreamError = { kind: "timeout", problem: problems.slow, isUnsent: false, isClosed: false };
const closed: UpstreamError = { kind: "broke", problem: problems.broke, isUnsent: false, isClosed: true };
const broke: UpstreamError = { kind: "broke", problem: problems.broke, isUnsent: false, isClosed: false };

export const busy: UpstreamError = {
  kind: "busy",
  problem: problems.busy,
  isUnsent: true,
  isClosed: false,
};
export const unhealthy: UpstreamError = {
  kind: "unhealthy",
  problem: problems.noneHealthy,
  isUnsent: true,
  isClosed: false,
};
export const waitedTooLong: UpstreamError = { ...slow, isUnsent: true };

const lateCode = "ORIGIN_LATE";
const closedCode = "ORIGIN_CLOSED";

const byCode: Readonly<Record<string, UpstreamError>> = {
  UND_ERR_CONNECT_TIMEOUT: slowToConnect,
  ETIMEDOUT: slowToConnect,
  [lateCode]: slow,
  [closedCode]: closed,
  ECONNRESET: closed,
  EPIPE: closed,
};

/** An origin that takes too long: to connect, to answer, to go on, or to take a body. */
export function late(): Error {
  return Object.assign(new Error("The origin takes too long."), { code: lateCode });
}

export function closedByOrigin(): Error {
  return Object.assign(new Error("The origin closed the connection."), { code: closedCode });
}

/** What an error of a connection means. `isConnected`: the request had a connection when it failed. */
export function upstreamError(error: unknown, isConnected: boolean): UpstreamError {
  const code = String(Object(error).code ?? "");
  const known = byCode[code];
  // Of a connection that was open, whatever it was asked may have been heard.
  if (isConnected) return known === slowToConnect ? slow : (known ?? broke);
  return known?.kind === "timeout" ? slowToConnect : unreachable;
}
