import type { Subject } from "tidegate";

/** What was found out about the visits of lately. Whoever comes again is known by what it says, without a fingerprint. */
export interface KnownVisits<T> {
  get(visit: string): T | undefined;
  keep(visit: string, known: T): void;
}

/** Two generations of at most so many each: what is not asked for while a whole one fills is forgotten. */
export function knownVisits<T>(mostInEither: number): KnownVisits<T> {
  let young = new Map<string, T>();
  let old = young;

  function keep(visit: string, known: T): void {
    if (young.size >= mostInEither) {
      old = young;
      young = new Map();
    }
    young.set(visit, known);
  }

  return {
    get(visit) {
      const known = young.get(visit);
      if (known !== undefined) return known;
      const older = old.get(visit);
      if (older !== undefined) keep(visit, older);
      return older;
    },
    keep,
  };
}

/** Some hundred bytes are kept of a visit; nobody is to fill the memory with long ones. */
const longest = 512;

/** All that fingerprints and addresses are made of, so that no two visits that differ in it are one text. Undefined: too long to be kept. */
export function visitOf(subject: Subject): string | undefined {
  const { ip, method, host, path } = subject;
  const userAgent = subject.header("user-agent") ?? "";
  const query = path.indexOf("?");
  const page = query < 0 ? path : path.slice(0, query);
  const lengths = `${ip.length} ${method.length} ${host.length} ${page.length} `;
  const visit = lengths + ip + method + host + page + userAgent;
  return visit.length > longest ? undefined : visit;
}
