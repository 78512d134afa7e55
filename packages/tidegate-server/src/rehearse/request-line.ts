import type { LoggedRequest } from "./logged-request.js";

const method = /^[A-Z][A-Z_-]{0,31}$/;
const absolute = /^[a-z][a-z0-9+.-]{0,15}:\/\/([^/?#]*)(.*)$/is;

export function isMethod(text: string): boolean {
  return method.test(text);
}

/** Takes `GET /path HTTP/1.1`, escapes undone. False: no request ever stood there. */
export function takeRequestLine(line: string, request: LoggedRequest): boolean {
  const methodEnd = line.indexOf(" ");
  if (methodEnd < 0 || !method.test(line.substring(0, methodEnd))) return false;
  const last = line.lastIndexOf(" ");
  const hasVersion = last > methodEnd && line.startsWith("HTTP/", last + 1);
  request.method = line.substring(0, methodEnd);
  takeTarget(line.substring(methodEnd + 1, hasVersion ? last : line.length), request);
  return request.path !== "";
}

/** A target as it was sent: a path, or a whole address whose host then counts. */
export function takeTarget(target: string, request: LoggedRequest): void {
  const [, host, path] = target.startsWith("/") ? [] : (absolute.exec(target) ?? []);
  request.path = host === undefined ? target : path?.startsWith("/") ? path : `/${path}`;
  if (host !== undefined) request.host = host.slice(host.lastIndexOf("@") + 1);
}
