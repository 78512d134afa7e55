import { ConfigError } from "../../errors.js";
import type { Subject } from "../../subject.js";
import type { Match } from "../rule-options.js";
import { hostCovers, matchedHost } from "./host.js";
import { type Named, parseMatch } from "./named.js";
import { unreadable } from "./path.js";
import { type PathPattern, patternCovers, patternIncludes } from "./path-pattern.js";

/** Whether a request is meant, told by its facts and the readings of its path. */
export type RequestMatch = (subject: Subject, readings: readonly string[]) => boolean;

/**
 * Which requests a rule applies to: those `only` names under any reading of their path, but not those `except` names
 * under every reading. In doubt (a function throws or answers later, a path is too long to be read) a request is one the rule applies to.
 */
export function compileMatch(
  { only, except }: { readonly only?: Match | undefined; readonly except?: Match | undefined },
  where: string,
): RequestMatch {
  const isNamed = only === undefined ? always : namedByAny(parseMatch(only, `${where}.only`));
  if (except === undefined) return isNamed;
  const isExcepted = namedByAll(parseMatch(except, `${where}.except`));
  if (covers(except, only ?? "/")) throw leavesNothing(`${where}.except`);
  return (subject, readings) => isNamed(subject, readings) && !isExcepted(subject, readings);
}

/** True only when it is certain that every request `inner` names, `outer` names too. */
export function covers(outer: Match, inner: Match): boolean {
  const wider = parseMatch(outer, "outer");
  return parseMatch(inner, "inner")
    .flatMap(single)
    .every((one) => wider.some((named) => includes(named, one)));
}

const always: RequestMatch = () => true;

function namedByAny(alternatives: readonly Named[]): RequestMatch {
  const inLowerCase = alternatives.map(lowerCase);
  return (subject, readings) =>
    isAnyMeant(alternatives, subject, readings, true) ||
    (subject.ignoresCase === true && isAnyMeant(inLowerCase, subject, readings.map(lower), true));
}

function lowerCase(named: Named): Named {
  const paths = named.paths?.map(({ path, segments }) => ({
    path: lower(path),
    segments: segments?.map((segment) => segment && lower(segment)),
  }));
  return { ...named, paths };
}

function lower(text: string): string {
  return text.toLowerCase();
}

/** Different alternatives may name different readings. */
function namedByAll(alternatives: readonly Named[]): RequestMatch {
  return (subject, readings) => {
    if (readings.length < 2) return isAnyMeant(alternatives, subject, readings, false);
    const fitting = alternatives.filter((named) => isAbout(named, subject, false));
    return readings.every((reading) => fitting.some(({ paths }) => isUnderAny(paths, [reading], false)));
  };
}

function isAnyMeant(
  alternatives: readonly Named[],
  subject: Subject,
  readings: readonly string[],
  inDoubt: boolean,
): boolean {
  for (const named of alternatives) {
    if (isUnderAny(named.paths, readings, inDoubt) && isAbout(named, subject, inDoubt)) return true;
  }
  return false;
}

function isUnderAny(
  paths: readonly PathPattern[] | undefined,
  readings: readonly string[],
  inDoubt: boolean,
): boolean {
  if (paths === undefined) return true;
  if (readings === unreadable) return inDoubt;
  for (const reading of readings) {
    for (const path of paths) if (patternCovers(path, reading)) return true;
  }
  return false;
}

/** All but the path. */
function isAbout({ methods, hosts, ask }: Named, subject: Subject, inDoubt: boolean): boolean {
  if (methods !== undefined && !methods.includes(subject.method.toUpperCase())) return false;
  if (hosts !== undefined) {
    const host = matchedHost(subject.host);
    if (!hosts.some((pattern) => hostCovers(pattern, host))) return false;
  }
  return ask === undefined || answer(ask, subject, inDoubt);
}

function answer(ask: (subject: Subject) => unknown, subject: Subject, inDoubt: boolean): boolean {
  try {
    const told = ask(subject) as PromiseLike<unknown> | undefined;
    if (typeof told?.then !== "function") return Boolean(told);
    told.then(undefined, () => {});
    return inDoubt;
  } catch {
    return inDoubt;
  }
}

/** One for each combination of its method, host and path. */
function single({ methods, hosts, paths, ask }: Named): Named[] {
  return apart(methods).flatMap((method) =>
    apart(hosts).flatMap((host) =>
      apart(paths).map((path) => ({ methods: method, hosts: host, paths: path, ask })),
    ),
  );
}

function apart<T>(list: readonly T[] | undefined): readonly (readonly [T] | undefined)[] {
  return list === undefined ? [undefined] : list.map((each) => [each] as const);
}

function includes(outer: Named, inner: Named): boolean {
  if (outer.ask !== undefined) return outer.ask === inner.ask;
  return (
    within(inner.methods, outer.methods, (method, given) => method === given) &&
    within(inner.hosts, outer.hosts, (pattern, given) => hostCovers(pattern, given)) &&
    within(inner.paths ?? everywhere, outer.paths, patternIncludes)
  );
}

const everywhere: readonly PathPattern[] = [{ path: "/", segments: undefined }];

function within<T>(
  inner: readonly T[] | undefined,
  outer: readonly T[] | undefined,
  isIn: (outer: T, inner: T) => boolean,
): boolean {
  if (outer === undefined) return true;
  return inner?.every((given) => outer.some((pattern) => isIn(pattern, given))) ?? false;
}

function leavesNothing(where: string): ConfigError {
  return new ConfigError(
    "TG_MATCH_NOTHING",
    where,
    "it takes away every request the rule is about, so the rule would never apply.",
    'Except less than "only" names, or drop the rule; mode: "off" keeps it without effect.',
  );
}
