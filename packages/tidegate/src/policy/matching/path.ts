import { oneSpelling } from "./escapes.js";

/** What a path must hold before it can be read in a way other than as it stands. */
const notable = /[^A-Za-z0-9\-._~!$&'()*+,=:@/]|\/[./]/;

/** What it must still hold, once spelled in one way, to have more than one reading. */
const ambiguous = /%(?:00|2[14FA-C6-9]|3[ABD]|40|5C)|;|\/\//;

/** The path of a request target as sent: no query, no fragment, and of `http://host/path` only the path. */
export function pathOf(target: string): string {
  const path = cutAt(cutAt(target, "?"), "#");
  if (path.charCodeAt(0) === 47) return path;
  const scheme = path.indexOf("://");
  if (scheme < 1 || path.indexOf("/") < scheme) return path;
  const start = path.indexOf("/", scheme + 3);
  return start < 0 ? "/" : path.slice(start);
}

/**
 * How a request's path may be understood by those behind us: normalised, case kept, no slash at the end, without
 * repetition, at most 144. The first takes nothing ambiguous for a separator. `unreadable` if that would take too long.
 */
export function pathReadings(target: string): readonly string[] {
  const path = rooted(pathOf(target));
  if (!notable.test(path)) return [withoutLastSlash(path)];
  const text = oneSpelling(path);
  if (!ambiguous.test(text)) return [withoutDots(text)];
  if (path.length > longestAmbiguous) return unreadable;
  let texts = [text];
  for (const otherReadings of ambiguities) texts = texts.flatMap((each) => [each, ...otherReadings(each)]);
  return [...new Set(texts.map(withoutDots))];
}

/** Longer ones would cost milliseconds to read in every way, and no honest client sends them. */
const longestAmbiguous = 1024;

/** Of paths too long to be read in every way: they may be any path. Counted by path, they are one. */
export const unreadable: readonly string[] = Object.freeze(["/unreadable"]);

/** Whether the reading is this path or lies below it, by whole segments. Both are normalised. */
export function isUnder(reading: string, path: string): boolean {
  const { length } = path;
  if (length === 1) return true;
  // The last character tells most paths apart. What is cut out compares in half the time of `startsWith`.
  if (reading.charCodeAt(length - 1) !== path.charCodeAt(length - 1)) return false;
  if (reading.length === length) return reading === path;
  return reading.charCodeAt(length) === 47 && reading.slice(0, length) === path;
}

/** Each tells how else a text can be read; each reads it the same way from end to end, so that readings stay few. */
const ambiguities: readonly ((text: string) => readonly string[])[] = [
  (text) => [...changed(text, forgiving(text)), ...changed(text, cutAt(text, ";"))],
  (text) => (text.includes("%00") ? [text.replaceAll("%00", ""), cutAt(text, "%00")] : []),
  (text) => changed(text, text.replaceAll("%2F", "/")),
  (text) => changed(text, text.replaceAll("%5C", "/")),
  // `//host/path` is a whole address to `new URL(target, base)`, and all its slashes and backslashes are slashes.
  (text) => (text.startsWith("//") ? [rooted(text.replace(/^\/+[^/]*/, ""))] : []),
  // Whether `/a//../b` is `/a/b` or `/b` depends on what is done first.
  (text) => (text.includes("/..") ? changed(text, text.replace(/\/{2,}/g, "/")) : []),
];

function changed(text: string, other: string): readonly string[] {
  return other === text ? [] : [other];
}

/** As servers read it that know path parameters (`/login;x=1`) and decode reserved characters too (`%3A`). */
function forgiving(text: string): string {
  return text
    .replace(/;[^/]*/g, "")
    .replace(/%(2[146-9A-C]|3[ABD]|40)/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
}

/** From the end, so that each `..` is known before the segment it takes away. What is kept is cut out in runs of segments. */
function withoutDots(text: string): string {
  if (!text.includes("/.") && !text.includes("//")) return withoutLastSlash(text);
  let kept = "";
  let runEnd = text.length;
  let taken = 0;
  for (let end = text.length; end > 0; ) {
    const slash = text.charCodeAt(end - 1) === 47 ? end - 1 : text.lastIndexOf("/", end - 1);
    const dots = dotsIn(text, slash + 1, end);
    const isTaken = dots === 0 && taken > 0;
    if (dots === 2) taken++;
    else if (isTaken) taken--;
    if (dots > 0 || isTaken || end - slash === 1) {
      if (end < runEnd) kept = text.slice(end, runEnd) + kept;
      runEnd = slash;
    }
    end = slash;
  }
  return rooted(text.slice(0, runEnd) + kept);
}

/** 1 for the segment `.`, 2 for `..`, 0 for any other. */
function dotsIn(text: string, start: number, end: number): number {
  const length = end - start;
  if (length !== 1 && length !== 2) return 0;
  for (let at = start; at < end; at++) if (text.charCodeAt(at) !== 46) return 0;
  return length;
}

function rooted(path: string): string {
  return path.startsWith("/") ? path : `/${path}`;
}

function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function cutAt(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return at < 0 ? text : text.slice(0, at);
}
