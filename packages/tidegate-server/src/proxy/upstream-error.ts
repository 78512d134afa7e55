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

const byCode: Readonly<Record<string, UpstreamError>> = {
  UND_ERR_CONNECT_TIMEOUT: slowToConnect,
  ETIMEDOUT: slowToConnect,
  UND_ERR_HEADERS_TIMEOUT: slow,
  UND_ERR_BODY_TIMEOUT: slow,
  UND_ERR_SOCKET: closed,
  ECONNRESET: closed,
  EPIPE: closed,
};

/** An origin that takes too long: to connect, to answer, or to go on. */
export function late(code: `UND_ERR_${"CONNECT" | "HEADERS" | "BODY"}_TIMEOUT`): Error {
  return Object.assign(new Error("The origin takes too long."), { code });
}

/** What an error of undici or of a socket means. `isConnected`: the request had a connection when it failed. */
export function upstreamError(error: unknown, isConnected: boolean): UpstreamError {
  const code = String(Object(error).code ?? "");
  const known = byCode[code];
  if (isConnected) return known ?? broke;
  return known?.kind === "timeout" ? slowToConnect : unreachable;
}
