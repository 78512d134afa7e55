import { isPromised } from "../../app-functions.js";
import { ConfigError } from "../../errors.js";
import type { Subject } from "../../subject.js";
import type { Match, RuleOptions } from "../rule-options.js";
import { hostCovers, matchedHost } from "./host.js";
import { type Named, parseMatch } from "./named.js";
import { unreadable } from "./path.js";
import { type PathPattern, patternCovers, patternIncludes } from "./path-pattern.js";
import { rememberingLast } from "./remembering-last.js";

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
  const named = only === undefined ? undefined : parseMatch(only, `${where}.only`).map(alike);
  const inLowerCase = named?.map(lowerCase);
  const excepted = except === undefined ? undefined : parseMatch(except, `${where}.except`).map(alike);
  if (except !== undefined && covers(except, only ?? "/")) throw leavesNothing(`${where}.except`);
  // One function for all, whatever is given: V8 then builds it into the loop over the rules.
  return (subject, readings) => {
    if (named !== undefined && !isAnyMeant(named, subject, readings, true)) {
      if (subject.ignoresCase !== true || inLowerCase === undefined) return false;
      if (!isAnyMeant(inLowerCase, subject, readings.map(lower), true)) return false;
    }
    return excepted === undefined || !isMeantThroughout(excepted, subject, readings);
  };
}

/** All that `only` and `except` name, where that alone tells whether a request is meant: by no function, by no segment that stands for any. */
export function namedInPlace({
  only,
  except,
}: Pick<RuleOptions, "only" | "except">): Record<"methods" | "hosts" | "paths", string[]> | undefined {
  const named = [only, except].flatMap((match) => (match === undefined ? [] : parseMatch(match, "match")));
  const paths = named.flatMap((each) => each.paths ?? []);
  if (named.some(({ ask }) => ask !== undefined) || paths.some(({ segments }) => segments !== undefined))
    return undefined;
  return {
    methods: named.flatMap(({ methods }) => methods ?? []),
    hosts: named.flatMap(({ hosts }) => hosts ?? []),
    paths: paths.map(({ path }) => path),
  };
}

/** True only when it is certain that every request `inner` names, `outer` names too. */
export function covers(outer: Match, inner: Match): boolean {
  const wider = parseMatch(outer, "outer");
  return parseMatch(inner, "inner")
    .flatMap(single)
    .every((one) => wider.some((named) => includes(named, one)));
}

/** All of one shape: V8 then knows where to look in each. */
function alike({ methods, hosts, paths, ask }: Named): Named {
  return { methods, hosts, paths, ask };
}

function lowerCase({ methods, hosts, paths, ask }: Named): Named {
  const lowered = paths?.map(({ path, segments }) => ({
    path: lower(path),
    segments: segments?.map((segment) => segment && lower(segment)),
  }));
  return { methods, hosts, paths: lowered, ask };
}

function lower(text: string): string {
  return text.toLowerCase();
}

/** Under every reading; different alternatives may name different ones. */
function isMeantThroughout(
  alternatives: readonly Named[],
  subject: Subject,
  readings: readonly string[],
): boolean {
  if (readings.length < 2) return isAnyMeant(alternatives, subject, readings, false);
  const fitting = alternatives.filter((named) => isAbout(named, subject, false));
  return readings.every((reading) => fitting.some(({ paths }) => isUnderAny(paths, [reading], false)));
}

function isAnyMeant(
  alternatives: readonly Named[],
  subject: Subject,
  readings: readonly string[],
  inDoubt: boolean,
): boolean {
  for (let i = 0; i < alternatives.length; i++) {
    const named = alternatives[i] as Named;
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
  for (let i = 0; i < readings.length; i++) {
    for (let j = 0; j < paths.length; j++)
      if (patternCovers(paths[j] as PathPattern, readings[i] as string)) return true;
  }
  return false;
}

/** All but the path. */
function isAbout({ methods, hosts, ask }: Named, subject: Subject, inDoubt: boolean): boolean {
  if (methods !== undefined && !methods.includes(upperCase(subject.method))) return false;
  if (hosts !== undefined) {
    const host = matchedHost(subject.host);
    if (!hosts.some((pattern) => hostCovers(pattern, host))) return false;
  }
  return ask === undefined || answer(ask, subject, inDoubt);
}

const upperCase = rememberingLast((method) => method.toUpperCase());

function answer(ask: (subject: Subject) => unknown, subject: Subject, inDoubt: boolean): boolean {
  try {
    const told = ask(subject);
    return isPromised(told) ? inDoubt : Boolean(told);
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
