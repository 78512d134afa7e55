import { basicUser } from "../../http/account.js";
import { blockText, parseAddress } from "../../policy/identity/address.js";

/** Who asks, as the printed middleware sees it: a claimed user, somebody without credentials, or credentials it can not read. */
export type Who = { readonly username: string } | "anonymous" | "malformed";

export function whoOf(authorization: string | undefined): Who {
  if (authorization === undefined) return "anonymous";
  const username = basicUser(authorization);
  return username === undefined ? "malformed" : { username };
}

/** No user of HTTP Basic can have this name, for theirs end at the first colon. IPv6 counts by its /64. */
export function addressName(ip: string | undefined): string {
  const address = ip === undefined ? undefined : parseAddress(ip);
  return `ip:${address === undefined ? "unknown" : blockText(address, address.version === 4 ? 32 : 64)}`;
}
