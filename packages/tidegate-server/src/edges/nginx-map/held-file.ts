import { canonicalBlock } from "tidegate/http";
import { isAddressKey } from "../../edge.js";

/** What stands in the file that nginx includes in a `geo` block. */
export interface HeldFile {
  /** Ours: address or block to the second it is let in again. */
  readonly ours: ReadonlyMap<string, number>;
  /** Addresses and blocks other people wrote there, in canonical form, each with its value. */
  readonly foreign: ReadonlyMap<string, string>;
  /** Everything that is not ours, byte for byte. */
  readonly foreignText: string;
  /** Another one after a loss; undefined when the file has none. */
  readonly epoch: string | undefined;
}

/** nginx compares digit by digit: both sides have ten of them, up to 2286. */
export const lastSecond = 9_999_999_999;

const ourLine = /^([0-9a-f.:/]{2,49}) (?:"(\d+) [^"]*"|(\d+)|true);(?: # (\d+))?$/;
const epochLine = /^# tidegate ([0-9a-f-]{36}): /;
const statement = /(?:^|;)\s*([^\s;{}"#]+)\s+("[^"]*"|[^\s;]+)\s*(?=;)/g;

/** The only keys nginx is told: what `geo` can not read would make it refuse its whole configuration. */
export function isHeldKey(key: string): boolean {
  return isAddressKey(key) && canonicalBlock(key) === key;
}

export function parseHeldFile(text: string): HeldFile {
  const ours = new Map<string, number>();
  const foreign = new Map<string, string>();
  const foreignLines: string[] = [];
  let epoch: string | undefined;
  for (const line of text.split("\n")) {
    const [, key = "", dated, bare, own] = ourLine.exec(line) ?? [];
    const end = own ?? dated ?? bare;
    const mark = epochLine.exec(line)?.[1];
    if (mark !== undefined) epoch ??= mark;
    else if (end !== undefined && isHeldKey(key)) ours.set(key, Number(end));
    else {
      foreignLines.push(line);
      for (const [, name = "", value = ""] of uncommented(line).matchAll(statement)) {
        const block = canonicalBlock(name);
        if (block !== undefined) foreign.set(block, value);
      }
    }
  }
  for (const key of foreign.keys()) ours.delete(key);
  return { ours, foreign, foreignText: foreignLines.join("\n"), epoch };
}

/** The whole file. What has ended by now, in seconds, is left out. */
export function formatHeldFile(held: HeldFile & { readonly epoch: string }, now: number): string {
  const { ours, foreign, foreignText, epoch } = held;
  const inner = foreignText === "" || foreignText.endsWith("\n") ? foreignText : `${foreignText}\n`;
  const standing = [...ours].filter(([key, end]) => end > now && !foreign.has(key));
  const covering = coverings(standing, foreign);
  const lines = standing.map(([key, end]) => formatEntry(key, end, covering(key)));
  return `${inner}# tidegate ${epoch}: the lines below are written by tidegate, others are left alone\n${lines.join("")}`;
}

/**
 * `geo` knows only the narrowest block an address is in: an address inside a block that stays longer has to stay as long, or its own end
 * would let it in. Its own end then stands behind.
 */
function formatEntry(key: string, end: number, outer: number): string {
  if (outer === Number.POSITIVE_INFINITY) return `${key} true; # ${end}\n`;
  const last = Math.max(end, outer);
  const date = new Date(last * 1_000).toUTCString();
  return `${key} "${last} ${date}";${last === end ? "" : ` # ${end}`}\n`;
}

/** Until when the blocks around a key are held: 0 if there are none. */
function coverings(
  ours: readonly (readonly [string, number])[],
  foreign: ReadonlyMap<string, string>,
): (key: string) => number {
  const blocks = new Map(ours.filter(([key]) => key.includes("/")));
  for (const [key, value] of foreign)
    if (key.includes("/")) blocks.set(key, value === "true" ? Number.POSITIVE_INFINITY : 0);
  const prefixes = [...new Set([...blocks.keys()].map((key) => Number(key.slice(key.indexOf("/") + 1))))];
  return (key) => {
    const [address = "", own = "128"] = key.split("/");
    const around = prefixes.filter((prefix) => prefix < Number(own));
    const ends = around.map((prefix) => blocks.get(canonicalBlock(`${address}/${prefix}`) ?? "") ?? 0);
    return Math.max(0, ...ends);
  };
}

function uncommented(line: string): string {
  const at = line.indexOf("#");
  return at < 0 ? line : line.slice(0, at);
}
