import { isUnder, pathReadings } from "./path.js";

/** A path and all below it, by whole segments. */
export interface PathPattern {
  /** Normalised, as readings are. */
  readonly path: string;
  /** Given when some segment stands for any: that one is undefined here. */
  readonly segments: readonly (string | undefined)[] | undefined;
}

/** Undefined when it can not be understood in one way only. */
export function parsePathPattern(text: string): PathPattern | undefined {
  if (!text.startsWith("/") || /[?#\\\0]|\/\/|%(?:2f|5c|00)/i.test(text)) return undefined;
  const path = pathReadings(text)[0] as string;
  const written = segmentsOf(text);
  const segments = segmentsOf(path);
  if (written.length !== segments.length) return undefined;
  if (written.some((segment) => segment.includes("*") && segment !== "*")) return undefined;
  if (!written.some(isAny)) return { path, segments: undefined };
  return {
    path,
    segments: segments.map((segment, i) => (isAny(written[i] as string) ? undefined : segment)),
  };
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

function isAny(segment: string): boolean {
  return segment === "*" || (segment.length > 1 && segment.startsWith(":"));
}

/** Whether a request on this reading of its path is meant. */
export function patternCovers({ path, segments }: PathPattern, reading: string): boolean {
  if (segments === undefined) return isUnder(reading, path);
  let end = 0;
  for (const segment of segments) {
    const start = end + 1;
    if (start >= reading.length) return false;
    end = reading.indexOf("/", start);
    if (end < 0) end = reading.length;
    if (segment === undefined) continue;
    if (end - start !== segment.length || !reading.startsWith(segment, start)) return false;
  }
  return true;
}

/** Whether all that the inner pattern covers is covered by the outer. */
export function patternIncludes(outer: PathPattern, inner: PathPattern): boolean {
  if (inner.segments === undefined) return patternCovers(outer, inner.path);
  const wanted = outer.segments ?? segmentsOf(outer.path);
  return (
    wanted.length <= inner.segments.length &&
    wanted.every((segment, i) => segment === undefined || segment === inner.segments?.[i])
  );
}
