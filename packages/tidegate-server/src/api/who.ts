import type { IncomingMessage } from "node:http";
import { type Caller, noToken } from "./access/caller.js";
import { badRequest } from "./api-problem.js";

/**
 * Who acts, as the audit shows it: a token's own name; else what the header `Tidegate-Who` says, which is a name, not a proof,
 * so it is none of a token's; else how a browser came in, or "api".
 */
export function whoActs({ headers }: IncomingMessage, { name: own, role, session, tokenId }: Caller): string {
  if (own !== undefined) return `token:${own}`;
  const sent = headers["tidegate-who"];
  if (sent === undefined) {
    if (session === undefined) return "api";
    return `${role} (${tokenId === noToken ? "login link" : "admin.token"})`;
  }
  // node:http reads headers as Latin-1.
  const name = Buffer.from(String(sent), "latin1").toString("utf8").trim();
  if (name.length >= 1 && name.length <= 64 && !/^token:|[\p{C}\p{Zl}\p{Zp}\ufffd]/iu.test(name)) return name;
  throw badRequest(
    "Tidegate-Who",
    "This is not a name.",
    "Give 1 to 64 printable characters that do not begin with token:.",
  );
}
