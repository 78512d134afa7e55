import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Gate, Policy, RuleOptions } from "tidegate";
import type { Settings } from "../settings.js";
import { claimedAccount } from "./claimed-account.js";
import type { Peer } from "./peers.js";

interface Known {
  readonly user?: string | undefined;
  readonly customer?: string | undefined;
  readonly account?: string | undefined;
}

export interface IdentifierOptions {
  readonly identify: Settings["identify"];
  readonly peerOf: (socket: Socket) => Peer;
  readonly gate: Pick<Gate, "policy">;
}

/**
 * Answers the function that says who sent a request. Who is logged in trusted proxies tell in headers, and of anybody else
 * it is not believed; an account is only claimed, so anybody may name one.
 */
export function identifier({
  identify: { user, customer, account },
  peerOf,
  gate,
}: IdentifierOptions): (req: IncomingMessage) => Known | undefined | Promise<Known> {
  const isAccountAsked = accountAsked(gate);
  return (req) => {
    const known = peerOf(req.socket).isTrusted
      ? { user: said(req, user), customer: said(req, customer) }
      : undefined;
    if (account === undefined || !isAccountAsked()) return known;
    if (typeof account === "string") return { ...known, account: said(req, account) };
    return claimedAccount(req, account.field).then((name) => ({ ...known, account: name }));
  };
}

/** Said twice is not said; where it would be believed, such a request is refused later on. */
function said({ headersDistinct }: IncomingMessage, name: string | undefined): string | undefined {
  const values = name === undefined ? undefined : headersDistinct[name.toLowerCase()];
  return values?.length === 1 && values[0] !== "" ? values[0] : undefined;
}

/** Whether a rule in force counts by account: if none does, no body is waited for. */
function accountAsked(gate: Pick<Gate, "policy">): () => boolean {
  let seen: Policy | undefined;
  let isAsked = false;
  return () => {
    const { policy } = gate;
    if (policy !== seen) {
      seen = policy;
      isAsked = policy.rules.some(looksAtAccount);
    }
    return isAsked;
  };
}

function looksAtAccount({ by, trust }: RuleOptions): boolean {
  return [by, trust?.by ?? []].flat().some((fact) => fact === "account" || typeof fact === "function");
}
