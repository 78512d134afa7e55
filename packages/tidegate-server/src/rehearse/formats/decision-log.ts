import type { LogFormat, Parsed } from "../line-parser.js";
import { isoTime } from "../log-time.js";
import { LoggedRequest } from "../logged-request.js";
import { jsonObject } from "./json-object.js";

/** Our own: decisions as they were made. It holds no addresses, only their digests. */
export const decisionLog: LogFormat = {
  name: "decision-log",
  isLike: (line) => {
    const kind = jsonObject(line)?.kind;
    return kind === "decision" || kind === "control";
  },
  open: () => (text, from, to) => {
    // Written in UTF-8, each character one of those the server read as a byte.
    const entry = jsonObject(Buffer.from(text.substring(from, to), "latin1").toString());
    return entry && parsed(entry);
  },
  notes: [
    "A decision log has digests instead of addresses: each client stands as an address made of its digest's first 14 digits, so rules by network, safelist and blocklist by address can not be rehearsed.",
    "A decision log tells no customers, users, statuses, queries and headers but the user agent: rules that look at them, or count failures, are judged as if they were not there.",
    "A decision log holds only refused requests unless the server writes all of them (decisionLog: which: all): then limits are judged on less than came.",
  ],
};

function parsed(entry: Record<string, unknown>): Parsed {
  if (entry.kind === "control") return "skipped";
  const { at, address, method, host, path, userAgent } = entry;
  const ms = isoTime(String(at));
  if (entry.kind !== "decision" || !(ms >= 0) || typeof path !== "string") return undefined;
  const request = new LoggedRequest();
  request.at = ms;
  request.ip = addressOfDigest(typeof address === "string" ? address : "");
  request.method = typeof method === "string" ? method : "GET";
  request.host = typeof host === "string" ? host : "";
  request.path = path;
  request.userAgent = typeof userAgent === "string" ? userAgent : undefined;
  return request.ip === "" && address !== undefined ? undefined : request;
}

/** One of a private network of its own (/64) for each digest; empty for what is no digest. */
function addressOfDigest(digest: string): string {
  if (!/^[0-9a-f]{14,}$/.test(digest)) return "";
  const groups = [`fd${digest.slice(0, 2)}`, digest.slice(2, 6), digest.slice(6, 10), digest.slice(10, 14)];
  return `${groups.join(":")}::1`;
}
