const slash = 47;

/**
 * The path of a request target. `GET http://host/path` reaches the same handlers as `GET /path`, and so does
 * `/path#fragment`, which no honest client sends.
 */
export function pathOf(target: string): string {
  const path = target.charCodeAt(0) === slash ? target : withoutOrigin(target);
  const fragment = path.indexOf("#");
  return fragment < 0 ? path : path.slice(0, fragment);
}

function withoutOrigin(target: string): string {
  const scheme = target.indexOf("://");
  if (scheme < 0) return target;
  for (let i = scheme + 3; i < target.length; i++) {
    const character = target[i];
    if (character === "/") return target.slice(i);
    if (character === "?" || character === "#") return `/${target.slice(i)}`;
  }
  return "/";
}

/** The host of `GET http://host/path`, which goes before what the Host header says. */
export function authorityOf(target: string | undefined): string | undefined {
  if (target === undefined || target.charCodeAt(0) === slash) return undefined;
  return /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(target)?.[1];
}
