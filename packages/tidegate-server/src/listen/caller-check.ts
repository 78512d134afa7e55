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

  return function check(req) {
    const { origin, "sec-fetch-site": site } = req.headers;
    const host = ownHost(soleHost(req.rawHeaders));
    if (host === undefined) return foreignHost;
    if (req.url?.[0] !== "/" && req.url !== "*") return foreignHost;
    if (origin !== undefined && !isOwnOrigin(origin, host)) return foreignOrigin;
    if (site === "cross-site") return foreignOrigin;
    return undefined;
  };
}

/** The only Host there is: of several, readers take different ones. */
function soleHost(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length !== 4 || name.toLowerCase() !== "host") continue;
    if (found !== undefined) return undefined;
    found = rawHeaders[i + 1];
  }
  return found;
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
