import { shown } from "./shown.js";

/** Where something stands in a file: `["policy", "rules", 2, "limits", 0]`. */
export type Path = readonly (string | number)[];

/** As people write it: `policy.rules[2].limits[0]`. */
export function pathText(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (isPlain(step)) text += text === "" ? step : `.${step}`;
    else text += `[${shown(step)}]`;
  }
  return text;
}

function isPlain(step: string): boolean {
  return /^[\w/-]{1,64}$/.test(step);
}

/** What stands there, or undefined. */
export function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string | number, unknown>)[step];
  }
  return found;
}

/** Reads a path the library wrote, such as `rules[2] ("login").hold.for`, against the value it speaks of. */
export function readPath(text: string, value: unknown): Path {
  const path: (string | number)[] = [];
  let rest = text.replace(/ \("(?:[^"\\]|\\.)*"\)/g, "");
  let found = value;
  while (rest !== "") {
    const index = /^\[(\d+)\]/.exec(rest);
    const step = index ? Number(index[1]) : longestKey(rest, found);
    path.push(step);
    found = valueAt(found, [step]);
    rest = rest.slice(index ? index[0].length : String(step).length).replace(/^\./, "");
  }
  return path;
}

/** A name may have dots in it: the longest that is really there is meant. */
function longestKey(rest: string, found: unknown): string {
  const plain = (/^[^.[]+/.exec(rest) ?? [rest])[0];
  if (typeof found !== "object" || found === null) return plain;
  const fitting = Object.keys(found).filter(
    (key) => key !== "" && rest.startsWith(key) && /^(?:[.[]|$)/.test(rest.slice(key.length)),
  );
  return fitting.sort((a, b) => b.length - a.length)[0] ?? plain;
}
