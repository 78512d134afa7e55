import type { IncomingMessage } from "node:http";
import { badRequest } from "./api-problem.js";

/** Who acts, as the audit shows it: what the header `Tidegate-Who` says, else "api". A name, not a proof, so it is none of a token's. */
export function whoActs({ headers }: IncomingMessage): string {
  const sent = headers["tidegate-who"];
  if (sent === undefined) return "api";
  // node:http reads headers as Latin-1.
  const name = Buffer.from(String(sent), "latin1").toString("utf8").trim();
  if (name.length >= 1 && name.length <= 64 && !/^token:|[\p{C}\p{Zl}\p{Zp}\ufffd]/iu.test(name)) return name;
  throw badRequest(
    "Tidegate-Who",
    "This is not a name.",
    "Give 1 to 64 printable characters that do not begin with token:.",
  );
}
