/** What changed from one text to another, line by line: ` same`, `-gone`, `+new`. */
export function lineDiff(before: string, after: string): string[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const middle = changes(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [
    ...a.slice(0, start).map((line) => ` ${line}`),
    ...middle,
    ...a.slice(a.length - end).map((line) => ` ${line}`),
  ];
}

/** Longer ones are shown as gone and come. */
const mostCells = 4_000_000;

/** By the longest common subsequence. */
function changes(a: readonly string[], b: readonly string[]): string[] {
  if ((a.length + 1) * (b.length + 1) > mostCells)
    return [...a.map((line) => `-${line}`), ...b.map((line) => `+${line}`)];
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] as number;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(` ${a[i++]}`);
      j++;
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) lines.push(`-${a[i++]}`);
    else lines.push(`+${b[j++]}`);
  }
  return lines;
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, "").split("\n");
}
