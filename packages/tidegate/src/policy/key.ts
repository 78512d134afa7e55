import { isPromised } from "../app-functions.js";
import { ConfigError, shown } from "../errors.js";
import type { Subject } from "../subject.js";
import { sha256Hex } from "./identity/digest.js";
import { broadFingerprint, type FingerprintForm, standardFingerprint } from "./identity/fingerprint.js";
import { shortBroad, shortStandard } from "./identity/short-fingerprint.js";
import { toolOf } from "./identity/tools.js";
import { MissingFact, type Request } from "./request.js";
import type { Fact } from "./rule-options.js";

/** Facts of which nobody can make up more than they have: the app vouches for users and customers, and a network has so many addresses. */
const limitedFacts: ReadonlySet<unknown> = new Set(["ip", "network", "user", "customer"]);

/** Whether a client can make up as many keys as it likes. */
export function isForgeable(by: Fact | readonly Fact[]): boolean {
  const facts: readonly Fact[] = Array.isArray(by) ? by : [by as Fact];
  return !facts.every((fact) => limitedFacts.has(fact));
}

/** The string a request is counted under; undefined when the rule does not apply to it. */
export type KeyMaker = (request: Request) => string | undefined;

/** How fingerprints are written as keys. */
export interface KeyForm {
  readonly fingerprint: FingerprintForm;
  /** Only this process has to know them again: see identity/short-fingerprint.ts. */
  readonly isShort: boolean;
}

export function compileKey(by: Fact | readonly Fact[], form: KeyForm, path: string): KeyMaker {
  if (!Array.isArray(by)) return compileFact(by as Fact, form, path);
  if (by.length === 0 || by.length > 8) throw notAKey(by, path);
  const parts = by.map((fact, i) => compileFact(fact, form, `${path}[${i}]`));
  return (request) => combine(parts, request);
}

/** A missing part counts as empty, unless all are missing. Escaped, so that no two combinations are one key. */
function combine(parts: readonly KeyMaker[], request: Request): string | undefined {
  let key = "";
  let isKnown = false;
  for (let i = 0; i < parts.length; i++) {
    const part = (parts[i] as KeyMaker)(request);
    if (i > 0) key += "|";
    if (part === undefined) continue;
    isKnown = true;
    key +=
      part.includes("|") || part.includes("%") ? part.replaceAll("%", "%25").replaceAll("|", "%7C") : part;
  }
  return isKnown ? key : undefined;
}

function compileFact(fact: Fact, form: KeyForm, path: string): KeyMaker {
  if (typeof fact === "function") return (request) => ownFact(fact, request);
  const known = typeof fact === "string" ? facts.get(fact) : undefined;
  if (known !== undefined) return known;
  if (fact === "standard") return (request) => standardOf(request, form);
  if (fact === "broad") return (request) => broadOf(request, form);
  const [kind, name = ""] = typeof fact === "string" ? split(fact) : [];
  // As RFC 9110 spells tokens.
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw notAKey(fact, path);
  if (kind === "header") return headerFact(name);
  if (kind === "cookie") return ({ subject }) => secret(cookieOf(subject, name));
  throw notAKey(fact, path);
}

/** Where the app's function throws, or answers what can be no key, the address is counted: such a request must not pass by all rules. */
function ownFact(fact: (subject: Subject) => unknown, { subject, client }: Request): string | undefined {
  try {
    const told = fact(subject);
    if (typeof told !== "object" || told === null) return asKey(told);
    // A promise or an object is no key, and not "nobody" either.
    isPromised(told);
    return client.ip;
  } catch (error) {
    if (error instanceof MissingFact) throw error;
    return client.ip;
  }
}

const facts: ReadonlyMap<string, KeyMaker> = new Map<string, KeyMaker>([
  ["ip", ({ client }) => client.ip],
  ["network", ({ client }) => client.network],
  ["user", ({ subject }) => asKey(subject.user)],
  ["customer", ({ subject }) => asKey(subject.customer)],
  ["account", ({ subject }) => accountOf(subject)],
  ["apiKey", ({ subject }) => secret(apiKeyOf(subject))],
  ["path", ({ readings }) => readings[0]],
]);

/** Ids are often numbers. Anything but text and numbers names nobody. */
function asKey(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}

/** A claimed name, in one spelling: writing it otherwise must not make it another. */
function accountOf(subject: Subject): string | undefined {
  const account = asKey(subject.account);
  if (account === undefined) return undefined;
  const name = account.trimStart().slice(0, longestAccount).normalize("NFKC").trim().toLowerCase();
  return name === "" ? undefined : name;
}

const longestAccount = 1024;

function apiKeyOf(subject: Subject): string | undefined {
  const own = subject.header("x-api-key");
  if (own) return own;
  const authorization = subject.header("authorization");
  return authorization !== undefined && /^bearer /i.test(authorization)
    ? authorization.slice(7).trim()
    : undefined;
}

/** Secrets are counted under their digest: a store's keys are read by many. */
function secret(text: string | undefined): string | undefined {
  return text ? sha256Hex(text) : undefined;
}

const secretHeaders = new Set(["authorization", "proxy-authorization", "cookie", "x-api-key"]);

function headerFact(name: string): KeyMaker {
  const lower = name.toLowerCase();
  return secretHeaders.has(lower)
    ? ({ subject }) => secret(subject.header(lower))
    : ({ subject }) => asKey(subject.header(lower));
}

function cookieOf(subject: Subject, name: string): string | undefined {
  const cookies = subject.header("cookie");
  if (!cookies) return undefined;
  for (const pair of cookies.split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return meantBy(pair.slice(at + 1).trim());
  }
  return undefined;
}

/** As those who read cookies understand a value: without quotes, escapes decoded. Else one session could be written in many ways. */
function meantBy(value: string): string {
  const bare = value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}

function standardOf({ subject, client }: Request, { fingerprint, isShort }: KeyForm): string {
  const facts = {
    host: subject.host,
    path: subject.path,
    method: subject.method,
    address: client.text,
    userAgent: subject.header("user-agent") ?? "",
  };
  return isShort ? shortStandard(facts) : standardFingerprint(facts, fingerprint);
}

function broadOf({ subject, client }: Request, { fingerprint, isShort }: KeyForm): string | undefined {
  const facts = { address: client.text, userAgent: subject.header("user-agent") ?? "" };
  if (!isShort) return broadFingerprint(facts, fingerprint);
  return toolOf(facts.userAgent) && shortBroad(facts);
}

function split(fact: string): [string, string] {
  const at = fact.indexOf(":");
  return at < 0 ? [fact, ""] : [fact.slice(0, at), fact.slice(at + 1)];
}

function notAKey(by: unknown, path: string): ConfigError {
  return new ConfigError(
    "TG_BY",
    path,
    `${shown(by)} names nobody to count.`,
    'Use "ip", "network", "user", "customer", "account", "apiKey", "standard", "broad", "path", "header:<name>", "cookie:<name>", a function of the subject, or a list of up to 8 of these.',
  );
}
