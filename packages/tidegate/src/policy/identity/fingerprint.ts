import { hostName } from "../matching/host.js";
import { pathOf } from "../matching/path.js";
import { sha1Hex, sha256Hex } from "./digest.js";
import { toolOf } from "./tools.js";

/** What a fingerprint is made of: facts an edge knows too. */
export interface FingerprintFacts {
  /** As sent; counted in lower case and without port. */
  readonly host: string;
  /** As sent; the query is left out. */
  readonly path: string;
  readonly method: string;
  /** Canonical (RFC 5952) and whole. */
  readonly address: string;
  /** Empty if none was sent. */
  readonly userAgent: string;
}

export type BroadFacts = Pick<FingerprintFacts, "address" | "userAgent">;

/** `"sha256"` of parts that can not collide; `"seed"`: SHA-1 of parts joined by colons. */
export type FingerprintForm = "sha256" | "seed";

/** One client on one path: host, path, method, address, user agent. */
export function standardFingerprint(facts: FingerprintFacts, form: FingerprintForm): string {
  return digest(standardText(facts, form), form);
}

/** One client on all paths; only for clients whose user agent names a known tool. */
export function broadFingerprint(facts: BroadFacts, form: FingerprintForm): string | undefined {
  return toolOf(facts.userAgent) && digest(broadText(facts, form), form);
}

/** What is hashed: `11:example.com6:/login4:POST9:192.0.2.111:curl/8.10.1`, or in the seed's form `example.com:/login:POST:192.0.2.1:curl/8.10.1`. */
export function standardText(facts: FingerprintFacts, form: FingerprintForm): string {
  const host = hostName(facts.host);
  const path = pathOf(facts.path);
  const method = facts.method.toUpperCase();
  if (form === "seed") return `${host}:${path}:${method}:${facts.address}:${facts.userAgent}`;
  return part(host) + part(path) + part(method) + broadText(facts, form);
}

/** What is hashed: `9:192.0.2.19:Wfuzz/2.4`, or in the seed's form `192.0.2.1:Wfuzz/2.4`. */
export function broadText({ address, userAgent }: BroadFacts, form: FingerprintForm): string {
  return form === "seed" ? `${address}:${userAgent}` : part(address) + part(userAgent);
}

function digest(text: string, form: FingerprintForm): string {
  return form === "seed" ? sha1Hex(text) : sha256Hex(text);
}

/** Its length in bytes goes before each part, so no part can pass for the end of one and the start of the next. */
function part(text: string): string {
  return `${utf8Length(text)}:${text}`;
}

function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    bytes += code < 0x800 ? 1 : 2;
    if (isPair(text, at, code)) at++;
  }
  return bytes;
}

/** Two units of one character, four bytes together; each alone would be three. */
function isPair(text: string, at: number, code: number): boolean {
  return code >= 0xd800 && code < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
}
