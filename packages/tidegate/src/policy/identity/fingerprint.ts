import { inOnePiece } from "../../in-one-piece.js";
import type { Subject } from "../../subject.js";
import { hostName } from "../matching/host.js";
import { pathOf } from "../matching/path.js";
import { Remembered } from "../remembered.js";
import { addressText, parseAddress } from "./address.js";
import { sha1Hex, sha256Hex } from "./digest.js";
import { toolOf } from "./tools.js";

/**
 * What a fingerprint is made of: facts an edge knows too. Texts are bytes, one per character, as Node and `fetch` give headers and
 * targets; only a part with a character above 0xff, which nobody can send, is taken as UTF-8.
 */
export interface FingerprintFacts {
  /** As sent; counted in lower case (ASCII) and without port. */
  readonly host: string;
  /** As sent; the query is left out. */
  readonly path: string;
  /** As sent; counted in upper case, HEAD as GET. */
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

/** What edges know a client by. */
export interface Fingerprints {
  readonly standard: string;
  /** Only of known tools. */
  readonly broad: string | undefined;
  /** Canonical; `"unknown"` when it can not be read. */
  readonly address: string;
}

/** Under the same names as a gate's rules by `standard` and `broad` count. */
export function fingerprintsOf(subject: Subject, form: FingerprintForm): Fingerprints {
  const read = parseAddress(subject.ip);
  const address = read === undefined ? "unknown" : addressText(read);
  const { host, path, method } = subject;
  const userAgent = subject.header("user-agent") ?? "";
  return {
    standard: standardFingerprint({ host, path, method, address, userAgent }, form),
    broad: broadFingerprint({ address, userAgent }, form),
    address,
  };
}

/** What is hashed, byte for character: `11:example.com6:/login4:POST9:192.0.2.111:curl/8.10.1`, or in the seed's form `example.com:/login:POST:192.0.2.1:curl/8.10.1`. */
export function standardText(facts: FingerprintFacts, form: FingerprintForm): string {
  const host = hostBytes(facts.host);
  const path = bytesOf(pathOf(facts.path));
  const method = countedMethod(facts.method);
  if (form === "seed") return `${host}:${path}:${method}:${broadText(facts, form)}`;
  return part(host) + part(path) + part(method) + broadText(facts, form);
}

/** What is hashed, byte for character: `9:192.0.2.19:Wfuzz/2.4`, or in the seed's form `192.0.2.1:Wfuzz/2.4`. */
export function broadText(facts: BroadFacts, form: FingerprintForm): string {
  const address = bytesOf(facts.address);
  const userAgent = bytesOf(facts.userAgent);
  return form === "seed" ? `${address}:${userAgent}` : part(address) + part(userAgent);
}

/** Caches ask the origin with GET for a HEAD. */
export function countedMethod(sent: string): string {
  const method = sent.toUpperCase();
  return method === "HEAD" ? "GET" : bytesOf(method);
}

/** Digests, some 150 bytes each, in either of two generations. */
const mostRemembered = 4096;

/** Who comes once comes again, and a digest takes ten times as long as to know its text. */
const known: Readonly<Record<FingerprintForm, Remembered<string>>> = {
  sha256: new Remembered(mostRemembered),
  seed: new Remembered(mostRemembered),
};

function digest(bytes: string, form: FingerprintForm): string {
  let digested = known[form].get(bytes);
  if (digested === undefined) {
    digested = form === "seed" ? sha1Hex(bytes, "latin1") : sha256Hex(bytes, "latin1");
    digested = inOnePiece(digested);
    known[form].keep(digested);
  }
  return digested;
}

/** Its length goes before each part, so no part can pass for the end of one and the start of the next. */
function part(bytes: string): string {
  return `${bytes.length}:${bytes}`;
}

/** V8 knows of most strings that they can not hold such a character: then it does not look. */
const beyondBytes = /[\u0100-\uffff]/;
const beyondAscii = /[\u0080-\uffff]/;

/** One character per byte. */
function bytesOf(text: string): string {
  return beyondBytes.test(text) ? utf8Bytes(text) : text;
}

/** Edges know no letters beyond ASCII: other bytes keep their case. */
export function hostBytes(host: string): string {
  const name = hostName(host);
  if (!beyondAscii.test(name)) return name;
  if (beyondBytes.test(host)) return utf8Bytes(name);
  return host.slice(0, name.length).replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

const encoder = new TextEncoder();

function utf8Bytes(text: string): string {
  let bytes = "";
  for (const byte of encoder.encode(text)) bytes += String.fromCharCode(byte);
  return bytes;
}
