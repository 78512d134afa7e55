import type { ListName } from "../../../directory.js";
import { ConfigError, shown } from "../../../errors.js";
import { keyText } from "../../packed/key-text.js";

/** Where each kind of record lives. `<ip>` stands for the address or block, `<id>` for the customer. */
export interface Templates {
  /** Default `<prefix>:safelist:<ip>`. */
  safelist?: string;
  /** Default `<prefix>:blocklist:<ip>`. */
  blocklist?: string;
  /** Default `<prefix>:customer:<id>:tier`. */
  tier?: string;
  /** Default `<prefix>:customer:<id>:limits`. */
  limits?: string;
}

type Kind = keyof Templates;

/** What a key is about; a customer without an id is one whose id is kept as a digest only. */
export type Named =
  | { readonly list: ListName; readonly address: string }
  | { readonly customer: string | undefined };

/** The keys of lists and customers, there and back. */
export interface Layout {
  entryKey(list: ListName, address: string): string;
  tierKey(customer: string): string;
  limitsKey(customer: string): string;
  /** A set of the list's addresses, so that they need not be searched for. */
  indexKey(list: ListName): string;
  named(key: string): Named | undefined;
  /** Every key of a list or customer begins with one of these, and no counter does. None begins with another. */
  readonly prefixes: readonly string[];
  /** Matches every list entry, and little else. Made of the templates alone, never of an address. */
  readonly entryPattern: string;
}

const placeholders: Record<Kind, string> = {
  safelist: "<ip>",
  blocklist: "<ip>",
  tier: "<id>",
  limits: "<id>",
};
const kinds = Object.keys(placeholders) as Kind[];

export function layoutOf(prefix: string, templates: Templates): Layout {
  const defaults: Record<Kind, string> = {
    safelist: `${prefix}:safelist:<ip>`,
    blocklist: `${prefix}:blocklist:<ip>`,
    tier: `${prefix}:customer:<id>:tier`,
    limits: `${prefix}:customer:<id>:limits`,
  };
  const chosen = { ...defaults, ...templates };
  const indexKey = (list: ListName) =>
    chosen[list] === defaults[list] ? `${prefix}:${list}` : `${prefix}:${list}@${chosen[list]}`;
  const shapes = shapesOf(chosen);
  const { safelist, blocklist, tier, limits } = shapes;
  rejectTaken(shapes, [indexKey("safelist"), indexKey("blocklist")], `${prefix}:{`);

  return {
    indexKey,
    entryKey: (list, address) => keyIn(shapes[list], address),
    tierKey: (customer) => keyIn(tier, customer),
    limitsKey: (customer) => keyIn(limits, customer),
    named(key) {
      for (const list of ["safelist", "blocklist"] as const) {
        const address = textIn(shapes[list], key);
        if (address !== undefined) return address.isDigest ? undefined : { list, address: address.text };
      }
      const customer = textIn(tier, key) ?? textIn(limits, key);
      return customer && { customer: customer.isDigest ? undefined : customer.text };
    },
    prefixes: shortest(kinds.map((kind) => shapes[kind].before)),
    entryPattern: patternOf(safelist.before, blocklist.before),
  };
}

/** A template, cut at its placeholder. */
interface Shape {
  readonly before: string;
  readonly after: string;
}

function shapesOf(templates: Record<Kind, string>): Record<Kind, Shape> {
  return Object.fromEntries(kinds.map((kind) => [kind, shapeOf(kind, templates[kind])])) as Record<
    Kind,
    Shape
  >;
}

function shapeOf(kind: Kind, template: string): Shape {
  const parts = typeof template === "string" ? template.split(placeholders[kind]) : [];
  const [before, after] = parts;
  if (parts.length !== 2 || !before || after === undefined || !/^[\x21-\x7e]{5,200}$/.test(template)) {
    throw wrongTemplate(
      kind,
      `${shown(template)} is not a key template.`,
      `Write ${placeholders[kind]} in it exactly once, after some text, in at most 200 printable characters without spaces.`,
    );
  }
  return { before, after };
}

function rejectTaken(shapes: Record<Kind, Shape>, indexes: readonly string[], counters: string): void {
  for (const [at, kind] of kinds.entries()) {
    const shape = shapes[kind];
    if (overlap(shape.before, counters) || indexes.some((key) => fits(shape, key))) {
      throw wrongTemplate(
        kind,
        "Tidegate's own keys could be taken for these.",
        `Let it begin unlike ${shown(counters)}.`,
      );
    }
    const rival = kinds.slice(0, at).find((other) => {
      const { before, after } = shapes[other];
      return overlap(shape.before, before) && (shape.after.endsWith(after) || after.endsWith(shape.after));
    });
    if (rival !== undefined) {
      throw wrongTemplate(
        kind,
        `one key could be meant by this and by templates.${rival}.`,
        "Let the text before or after the placeholder differ.",
      );
    }
  }
}

function wrongTemplate(kind: Kind, message: string, help: string): ConfigError {
  return new ConfigError("TG_TEMPLATE", `redisDirectory.templates.${kind}`, message, help);
}

const overlap = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);

const fits = ({ before, after }: Shape, key: string): boolean =>
  key.length > before.length + after.length && key.startsWith(before) && key.endsWith(after);

const keyIn = ({ before, after }: Shape, text: string): string => before + keyText(text) + after;

/** What stands at the placeholder, if we could have written it. */
function textIn(shape: Shape, key: string): { text: string; isDigest: boolean } | undefined {
  if (!fits(shape, key)) return undefined;
  const written = key.slice(shape.before.length, key.length - shape.after.length);
  if (/^%h[0-9a-f]{64}$/.test(written)) return { text: written, isDigest: true };
  const text = written.replace(/%([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return keyText(text) === written ? { text, isDigest: false } : undefined;
}

/** Redis takes no prefix that begins with another. */
function shortest(prefixes: readonly string[]): string[] {
  const unique = [...new Set(prefixes)];
  return unique.filter((one) => !unique.some((other) => other !== one && one.startsWith(other)));
}

/** One pattern for both lists, so that one pass finds them: what they share, then the characters they differ in. */
function patternOf(one: string, other: string): string {
  let shared = 0;
  while (shared < one.length && one[shared] === other[shared]) shared++;
  const next = [one, other].map((text) => text.slice(shared, shared + 1));
  const choice = next.includes("") ? "" : `[${next.map(literally).join("")}]`;
  return `${literally(one.slice(0, shared))}${choice}*`;
}

/** Text as a glob that matches it alone. */
export function literally(text: string): string {
  return text.replace(/[\\*?[\]^-]/g, "\\$&");
}
