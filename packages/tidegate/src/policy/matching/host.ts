import { rememberingLast } from "./remembering-last.js";

/** A host as it is counted: lower case, without port. An IPv6 literal keeps its brackets. */
export function hostName(host: string): string {
  const lower = host.toLowerCase();
  const colon = lower.lastIndexOf(":");
  return colon > 0 && endsName(lower, colon) && isPort(lower, colon + 1) ? lower.slice(0, colon) : lower;
}

/** Whether `*.example.com` or `example.com` names this host, or names whatever another such pattern names. */
export function hostCovers(pattern: string, host: string): boolean {
  return pattern.charCodeAt(0) === 42 ? host.endsWith(pattern.slice(1)) : host === pattern;
}

/** A host as it is matched: `example.com.` is `example.com`. */
export const matchedHost: (host: string) => string = rememberingLast((host) => {
  const name = hostName(host);
  return name.endsWith(".") ? name.slice(0, -1) : name;
});

/** Numbers hosts so that those of one number are covered by the same of these patterns. */
export function hostClasses(patterns: readonly string[]): (host: string) => number {
  if (patterns.length === 0) return () => 0;
  const numbers = new Map<string, number>();
  return (host) => {
    const name = matchedHost(host);
    const covering = patterns.map((pattern) => (hostCovers(pattern, name) ? "1" : "0")).join("");
    let number = numbers.get(covering);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(covering, number);
    }
    return number;
  };
}

function isPort(text: string, from: number): boolean {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

/** A port's colon follows the bracket of an address, or is the only one. */
function endsName(text: string, colon: number): boolean {
  return text.startsWith("[") ? text.charCodeAt(colon - 1) === 93 : text.indexOf(":") === colon;
}
