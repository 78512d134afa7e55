import { scryptSync } from "node:crypto";
import type { NamedToken, Role, Tokens } from "../../data.js";
import type { AdminSettings } from "../../settings.js";
import { noToken } from "./caller.js";
import { digestOf, isSame } from "./credentials.js";

/** A token that is known, by its digest. */
export interface FoundToken {
  readonly id: string;
  readonly role: Role;
  readonly name?: string;
  readonly until?: number;
}

export interface TokenFinder {
  find(digest: string): Promise<FoundToken | undefined>;
  /** Whether what was begun with the token of this id may go on: one of the settings that has changed is another. */
  mayGoOn(tokenId: string): boolean;
}

const ownPrefix = "settings:";

export function tokenFinder({ token: own, isPassing }: AdminSettings, tokens: Tokens): TokenFinder {
  const ownDigest = own && digestOf("token", own.reveal());
  let ownId: string | undefined;

  /** It is kept with sessions, where it must not help anybody to find the token by trying. */
  function idOfOwn(): string {
    if (own === undefined || isPassing === true) return noToken;
    ownId ??= ownPrefix + scryptSync(own.reveal(), "tidegate admin.token", 12, { N: 4096 }).toString("hex");
    return ownId;
  }

  return {
    async find(digest) {
      if (ownDigest !== undefined && isSame(ownDigest, digest)) return { id: idOfOwn(), role: "admin" };
      return found(await tokens.findByDigest(digest));
    },
    mayGoOn: (tokenId) => !tokenId.startsWith(ownPrefix) || tokenId === idOfOwn(),
  };
}

function found(token: NamedToken | undefined): FoundToken | undefined {
  if (token === undefined) return undefined;
  const { id, role, name, until } = token;
  return { id, role, name, ...(until !== undefined && { until }) };
}
