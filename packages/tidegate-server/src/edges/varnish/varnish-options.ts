import { createHash } from "node:crypto";
import type { Secret } from "../../secret.js";
import { wrong } from "../rendered.js";

export interface VarnishRenderOptions {
  /** As the identity's `fingerprint` says. Default `"sha256"`. */
  readonly fingerprint?: "sha256" | "seed";
  /** As the identity's `ipv6Prefix` says: 64 knows IPv6 clients by their block, 128 by their whole address. Default 64. */
  readonly ipv6Prefix?: number;
  /** The name `-a <name>=127.0.0.1:6091` gives to the listener that takes orders, and nothing else. Default `tidegate`. */
  readonly listener?: string;
  /** Addresses and blocks that may give orders. Default: this machine. */
  readonly control?: readonly string[];
  /** What an order has to say as `Authorization: Bearer …`. Only its digest is written. */
  readonly token?: Secret;
  /** The storage `-s <name>=default,8m` made for the table, so that content never pushes entries out. Default: the usual one. */
  readonly storage?: string;
  /** How many seconds past its end a page is kept for held clients; others get it at most 10 s past. Default: as your VCL and backend say. */
  readonly graceSeconds?: number;
}

/** The options as text that can stand in VCL: nothing in it can end a string, a line or a block. */
export interface VarnishNames {
  readonly hash: "hash_sha256" | "hash_sha1";
  readonly ipv6Prefix: 64 | 128;
  readonly listener: string;
  /** Lines of an acl. */
  readonly control: readonly string[];
  readonly tokenDigest?: string;
  readonly storage?: string;
  readonly graceSeconds?: number;
}

const decade = 10 * 365 * 86_400;

export function parseVarnishOptions(options: VarnishRenderOptions): VarnishNames {
  const { fingerprint = "sha256", ipv6Prefix = 64, listener = "tidegate" } = options;
  const { control = ["127.0.0.1", "::1"], token, storage, graceSeconds } = options;
  if (fingerprint !== "sha256" && fingerprint !== "seed") throw wrong("fingerprint", "Write sha256 or seed.");
  if (ipv6Prefix !== 64 && ipv6Prefix !== 128)
    throw wrong("ipv6Prefix", "Varnish knows IPv6 clients by 64 or by 128 bits: write one of them.");
  if (!isName(listener)) throw wrong("listener", nameHelp);
  if (storage !== undefined && !isName(storage)) throw wrong("storage", nameHelp);
  if (control.length === 0) throw wrong("control", "Name at least one address that may give orders.");
  if (
    graceSeconds !== undefined &&
    !(Number.isInteger(graceSeconds) && graceSeconds >= 0 && graceSeconds <= decade)
  )
    throw wrong("graceSeconds", "Write a whole number of seconds, at most ten years.");
  return {
    hash: fingerprint === "seed" ? "hash_sha1" : "hash_sha256",
    ipv6Prefix,
    listener,
    control: control.map((block, i) => aclLine(block, `control[${i}]`)),
    ...(token && {
      tokenDigest: createHash("sha256").update(`Bearer ${token.reveal()}`, "latin1").digest("hex"),
    }),
    ...(storage !== undefined && { storage }),
    ...(graceSeconds !== undefined && { graceSeconds }),
  };
}

const nameHelp = "Write letters, digits and underscores, a letter first, 40 at most.";

function isName(name: string): boolean {
  return /^[a-z]\w{0,39}$/i.test(name);
}

/** `"10.0.0.0"/8;` */
function aclLine(block: string, path: string): string {
  const [, address, prefix] =
    /^((?:\d{1,3}\.){3}\d{1,3}|[0-9a-f:]*:[0-9a-f:.]*)(?:\/(\d{1,3}))?$/i.exec(String(block)) ?? [];
  const longest = address?.includes(":") ? 128 : 32;
  if (address === undefined || address.length > 45 || Number(prefix ?? 0) > longest)
    throw wrong(path, "Write an address, or a block like 10.0.0.0/8.");
  return `"${address}"${prefix === undefined ? "" : `/${prefix}`};`;
}
