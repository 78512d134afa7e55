export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** Beyond this many lines in the middle, all of it is shown as replaced: the table of a diff grows with the square. */
const mostLines = 2_000;

/** The lines of both texts in order, with what was removed from the first and added in the second. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const same = (text: string): DiffLine => ({ kind: "same", text });
  return [
    ...a.slice(0, start).map(same),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  if (a.length > mostLines || b.length > mostLines)
    return [
      ...a.map((text) => ({ kind: "removed" as const, text })),
      ...b.map((text) => ({ kind: "added" as const, text })),
    ];
  const width = b.length + 1;
  // The longest common part of the rests from i and j.
  const common = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      lines.push({ kind: "same", text: left });
      i++;
      j++;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: "removed", text: left });
      i++;
    } else {
      lines.push({ kind: "added", text: right as string });
      j++;
    }
  }
  return lines;
}

/** Lines of the first text that others take the place of. */
interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** What was changed from `base` to `mine`, put on top of `theirs`. Undefined: both touched the same lines, or lines side by side. */
export function lineMerge(base: string, mine: string, theirs: string): string | undefined {
  const own = hunksOf(base, mine);
  const others = hunksOf(base, theirs).filter((hunk) => !own.some((each) => isSame(each, hunk)));
  if (own.some((a) => others.some((b) => a.start <= b.end && b.start <= a.end))) return undefined;
  const lines = base.split("\n");
  // From the end on, so that what is still to be done stays where it is.
  for (const { start, end, lines: instead } of [...own, ...others].sort((a, b) => b.start - a.start))
    lines.splice(start, end - start, ...instead);
  return lines.join("\n");
}

function hunksOf(before: string, after: string): Hunk[] {
  const hunks: { start: number; end: number; lines: string[] }[] = [];
  let at = 0;
  for (const { kind, text } of lineDiff(before, after)) {
    const last = hunks.at(-1);
    const hunk = last?.end === at ? last : { start: at, end: at, lines: [] };
    if (kind !== "same" && hunk !== last) hunks.push(hunk);
    if (kind === "added") hunk.lines.push(text);
    else at++;
    if (kind === "removed") hunk.end = at;
  }
  return hunks;
}

function isSame(a: Hunk, b: Hunk): boolean {
  return a.start === b.start && a.end === b.end && a.lines.join("\n") === b.lines.join("\n");
}
