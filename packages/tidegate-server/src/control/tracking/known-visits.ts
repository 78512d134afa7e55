import type { Subject } from "tidegate";
import { ofItsOwn } from "../../fact-text.js";

/** What was found out about the visits of lately. Whoever comes again is known by what it says, without a fingerprint. */
export interface KnownVisits<T> {
  /** Of a visit that has all in common of which fingerprints and addresses are made. */
  get(subject: Subject): T | undefined;
  keep(subject: Subject, known: T): void;
}

/** All that fingerprints and addresses are made of. */
class Visit<T> {
  readonly method: string;
  readonly host: string;
  readonly page: string;
  readonly userAgent: string;
  known: T;

  constructor(facts: Facts, known: T) {
    this.method = facts.method;
    this.host = facts.host;
    this.page = facts.page;
    this.userAgent = facts.userAgent;
    this.known = known;
  }
}

interface Facts {
  readonly ip: string;
  readonly method: string;
  readonly host: string;
  readonly page: string;
  readonly userAgent: string;
}

/** Some hundred bytes are kept of a visit; nobody is to fill the memory with long ones. */
const longest = 512;
/** Of one address: beyond these the next one takes the place of another. */
const mostOfOne = 16;

/** Two generations of at most so many each: what is not asked for while a whole one fills is forgotten. */
export function knownVisits<T>(mostInEither: number): KnownVisits<T> {
  let young = new Map<string, Visit<T>[]>();
  let old = young;
  let count = 0;
  let turn = 0;

  function visitsOf(ip: string): Visit<T>[] | undefined {
    const known = young.get(ip);
    if (known !== undefined) return known;
    const older = old.get(ip);
    if (older !== undefined) add(ip, older);
    return older;
  }

  function add(ip: string, visits: Visit<T>[]): void {
    young.set(ip, visits);
    grow(visits.length);
  }

  function grow(by: number): void {
    count += by;
    if (count < mostInEither) return;
    old = young;
    young = new Map();
    count = 0;
  }

  return {
    get(subject) {
      const visits = visitsOf(subject.ip);
      return visits === undefined ? undefined : find(visits, subject)?.known;
    },
    keep(subject, known) {
      const facts = factsOf(subject);
      if (lengthOf(facts) > longest) return;
      const visits = visitsOf(facts.ip);
      const before = visits && find(visits, subject);
      if (before !== undefined) before.known = known;
      else if (visits === undefined) add(ofItsOwn(facts.ip), [new Visit(inPieces(facts), known)]);
      else if (visits.length < mostOfOne) {
        visits.push(new Visit(inPieces(facts), known));
        grow(1);
      } else visits[turn++ % mostOfOne] = new Visit(inPieces(facts), known);
    },
  };
}

function find<T>(visits: readonly Visit<T>[], subject: Subject): Visit<T> | undefined {
  const { method, host, path } = subject;
  const userAgent = userAgentOf(subject);
  const length = pageLength(path);
  for (let i = 0; i < visits.length; i++) {
    const visit = visits[i] as Visit<T>;
    if (
      visit.page.length === length &&
      path.startsWith(visit.page) &&
      visit.userAgent === userAgent &&
      visit.host === host &&
      visit.method === method
    )
      return visit;
  }
  return undefined;
}

function factsOf(subject: Subject): Facts {
  const { ip, method, host, path } = subject;
  return { ip, method, host, page: path.slice(0, pageLength(path)), userAgent: userAgentOf(subject) };
}

function userAgentOf(subject: Subject): string {
  return subject.header("user-agent") ?? "";
}

function pageLength(path: string): number {
  const query = path.indexOf("?");
  return query < 0 ? path.length : query;
}

function lengthOf({ ip, method, host, page, userAgent }: Facts): number {
  return ip.length + method.length + host.length + page.length + userAgent.length;
}

function inPieces({ ip, method, host, page, userAgent }: Facts): Facts {
  return { ip, method, host: ofItsOwn(host), page: ofItsOwn(page), userAgent: ofItsOwn(userAgent) };
}
