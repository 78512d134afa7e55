import type { IncomingMessage } from "node:http";
import { accountIn, type BodyForm } from "./account-in.js";
import { peekBody } from "./peek-body.js";

/** More than a login takes, and no more than Node keeps of a body nobody reads. */
const mostBytes = 16_384;
const withinMs = 1000;
const methods = new Set(["POST", "PUT", "PATCH"]);

/** The name a small form or JSON body has in this field: claimed, not proven. What can not be read in time claims nothing. */
export async function claimedAccount(req: IncomingMessage, field: string): Promise<string | undefined> {
  const form = formOf(req);
  const length = lengthOf(req);
  if (form === undefined || length === undefined) return undefined;
  const body = await peekBody(req, length, withinMs);
  return body && accountIn(body, form, field);
}

/** Undefined where no name can be in the body; then nobody waits for it. */
function formOf({ method = "", headers }: IncomingMessage): BodyForm | undefined {
  if (!methods.has(method) || headers["content-encoding"] !== undefined) return undefined;
  const [type = ""] = (headers["content-type"] ?? "").split(";", 1);
  const kind = type.trim().toLowerCase();
  if (kind === "application/x-www-form-urlencoded") return "form";
  return /^application\/(?:[\w.-]+\+)?json$/.test(kind) ? "json" : undefined;
}

/** Whoever expects to be asked for the body sends none before. */
function lengthOf({ headers }: IncomingMessage): number | undefined {
  if (headers.expect !== undefined || headers["transfer-encoding"] !== undefined) return undefined;
  const length = Number(headers["content-length"] ?? 0);
  return length > 0 && length <= mostBytes ? length : undefined;
}
