import { formats } from "./formats/index.js";
import type { LogFormat } from "./line-parser.js";

const mostLines = 200;
const longest = 8192;

/** What most of the first lines look like; undefined when none looks like anything. */
export function detectFormat(text: string): LogFormat | undefined {
  const lines = text
    .slice(0, mostLines * longest)
    .split("\n", mostLines)
    .map((line) => line.trimEnd())
    .filter((line) => line !== "" && line.length <= longest);
  let best: { readonly format: LogFormat; readonly count: number } | undefined;
  for (const format of formats) {
    const count = lines.filter((line) => isLike(format, line)).length;
    if (count > (best?.count ?? 0)) best = { format, count };
  }
  return best?.format;
}

/** A line may be made to break whoever looks at it. */
function isLike(format: LogFormat, line: string): boolean {
  try {
    return format.isLike(line);
  } catch {
    return false;
  }
}
