import { isIP } from "node:net";

/** A `Host` as sent, taken apart. */
export interface HostName {
  /** Lower case, without brackets and final dot. */
  readonly name: string;
  readonly port?: number;
}

const form = /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9_-](?:[a-z0-9._-]{0,252})))(?::(\d{1,5}))?$/i;

/** Undefined for whatever is not a plain name or address with or without a port. */
export function parseHostName(text: string): HostName | undefined {
  const [, bracketed, plain, port] = form.exec(text) ?? [];
  const name = (bracketed ?? plain?.replace(/\.$/, ""))?.toLowerCase();
  if (name === undefined || (bracketed !== undefined && isIP(name) !== 6)) return undefined;
  if (port === undefined) return { name };
  return Number(port) <= 65_535 ? { name, port: Number(port) } : undefined;
}

/**
 * Tells the names a listener may be called by: any address, localhost, and those given. A page of somebody else's that
 * lets its own name point here is thereby found out: the browser sends that name.
 */
export function ownNames(hosts: readonly string[]): (name: string) => boolean {
  const given = new Set(hosts.map((host) => parseHostName(host)?.name ?? host.toLowerCase()));
  return (name) => isIP(name) !== 0 || name === "localhost" || given.has(name);
}
