import type { IncomingMessage } from "node:http";
import type { Problem } from "../problem.js";
import { type HostName, ownNames, parseHostName } from "./own-name.js";

/** Answers why a request is turned away, or undefined. */
export type CallerCheck = (req: IncomingMessage) => Problem | undefined;

/**
 * Keeps web pages of others from speaking to a listener through somebody's browser: the Host must be one of ours (DNS
 * rebinding), and a page that asks must be served from here (cross-site requests).
 */
export function callerCheck(hosts: readonly string[]): CallerCheck {
  const isOurs = ownNames(hosts);
  const named = new Set(hosts.map((host) => parseHostName(host)?.name));

  function isOwnOrigin(origin: string, host: HostName): boolean {
    const parsed = parseOrigin(origin);
    if (parsed === undefined) return false;
    // Behind a proxy that rewrites Host the page's own name is one of those the operator gave.
    if (named.has(parsed.name)) return true;
    return parsed.name === host.name && parsed.port === (host.port ?? parsed.usualPort);
  }

  // On a connection that is kept it is the same one again and again.
  let lastText: string | undefined;
  let lastHost: HostName | undefined;

  function ownHost(text: string | undefined): HostName | undefined {
    if (text === undefined) return undefined;
    if (text !== lastText) {
      const host = parseHostName(text);
      lastHost = host !== undefined && isOurs(host.name) ? host : undefined;
      lastText = text;
    }
    return lastHost;
  }

  return function check({ rawHeaders, url }) {
    const told = tellingHeaders(rawHeaders);
    const host = ownHost(told.host);
    if (host === undefined) return foreignHost;
    if (url?.[0] !== "/" && url !== "*") return foreignHost;
    if (told.origin !== undefined && !isOwnOrigin(told.origin, host)) return foreignOrigin;
    if (told.isCrossSite) return foreignOrigin;
    return undefined;
  };
}

interface TellingHeaders {
  /** The only Host there is: of several, readers take different ones. */
  host: string | undefined;
  /** Of several, what no page's origin can be. */
  origin: string | undefined;
  isCrossSite: boolean;
}

/** As they were sent: of several of one name Node shows one. */
function tellingHeaders(rawHeaders: readonly string[]): TellingHeaders {
  const told: TellingHeaders = { host: undefined, origin: undefined, isCrossSite: false };
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const value = rawHeaders[i + 1] as string;
    if (name.length === 4 && name.toLowerCase() === "host") told.host = ++hosts === 1 ? value : undefined;
    else if (name.length === 6 && name.toLowerCase() === "origin")
      told.origin = told.origin === undefined ? value : "null";
    else if (name.length === 14 && name.toLowerCase() === "sec-fetch-site")
      told.isCrossSite ||= value.trim().toLowerCase() === "cross-site";
  }
  return told;
}

function parseOrigin(text: string): (HostName & { port: number; usualPort: number }) | undefined {
  const scheme = /^(https?):\/\//.exec(text);
  const host = scheme && parseHostName(text.slice(scheme[0].length));
  if (!host) return undefined;
  const usualPort = scheme[1] === "https" ? 443 : 80;
  return { name: host.name, port: host.port ?? usualPort, usualPort };
}

const foreignHost: Problem = {
  status: 421,
  title: "Misdirected Request",
  code: "TG_HOST",
  detail:
    "This listener answers under addresses, localhost and the names in its setting `hosts` only. Call it by its address, or add the name to `hosts`.",
};

const foreignOrigin: Problem = {
  status: 403,
  title: "Forbidden",
  code: "TG_ORIGIN",
  detail:
    "A web page of another origin asked. Only pages served from here may; add the page's host name to `hosts` if it is yours.",
};
