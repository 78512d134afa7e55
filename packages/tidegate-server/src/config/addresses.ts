import type { ListenAddress } from "../settings.js";

/** What is written wrong in it, and what to write. */
export interface Fault {
  readonly is: string;
  readonly help: string;
}

export type Parsed<T> = { readonly value: T } | { readonly fault: Fault };

const addressHelp =
  'Write host:port, e.g. 127.0.0.1:8080, 0.0.0.0:8080 or "[::1]:8080"; a port alone is on loopback, :8080 on every address, false leaves it out.';

/** `127.0.0.1:8080`, `[::1]:8080`, `8080` (loopback), `:8080` (every address), `false` (undefined). */
export function parseListen(given: string | number | false): Parsed<ListenAddress | undefined> {
  if (given === false || given === "false") return { value: undefined };
  const [, bracketed, plain, digits] =
    /^(?:(?:\[([\da-fA-F:.]+)\]|([\w.-]+|\*)?):)?(\d{1,5})$/.exec(String(given)) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) {
    return { fault: { is: "is not an address to listen on.", help: addressHelp } };
  }
  const hasHost = String(given).includes(":");
  const named = bracketed ?? plain;
  const everywhere = hasHost && (named === undefined || named === "*");
  return { value: { host: everywhere ? "0.0.0.0" : (named ?? "127.0.0.1"), port } };
}

const originHelp = "Write http:// or https://, a host and, if need be, a port: http://127.0.0.1:3000.";

/** An origin: scheme, host and port. */
export function parseOrigin(text: string): Parsed<string> {
  const url = urlOf(text);
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === "")
    return { fault: { is: "is not the origin of an app.", help: originHelp } };
  if (url.username !== "" || url.password !== "")
    return { fault: { is: "has a name and password, which are not sent.", help: originHelp } };
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "" || /[?#]/.test(text))
    return { fault: { is: "has more than an origin.", help: `${originHelp} Requests keep their own path.` } };
  return { value: url.origin };
}

/** A URL with one of these schemes and a host. */
export function isUrl(text: string, schemes: readonly string[]): boolean {
  const url = urlOf(text);
  return url !== undefined && schemes.includes(url.protocol) && url.hostname !== "";
}

function urlOf(text: string): URL | undefined {
  return URL.canParse(text) && !/\s/.test(text) ? new URL(text) : undefined;
}

/** A host's name without scheme or port, in lower case; with `*.` before it where all below are meant. */
export function parseHost(text: string, { canBeWild = false } = {}): string | undefined {
  const lower = text.toLowerCase();
  const pattern = /^(\*\.)?(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/.exec(lower);
  if (pattern !== null) return pattern[1] !== undefined && !canBeWild ? undefined : lower;
  return /^\[[\da-f:.]+\]$/.test(lower) ? lower : undefined;
}

/** As RFC 9110 spells the names of headers; in lower case. */
export function parseHeaderName(text: string): string | undefined {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/.test(text) ? text.toLowerCase() : undefined;
}
