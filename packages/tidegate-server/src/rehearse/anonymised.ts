import { createHmac, randomBytes } from "node:crypto";
import type { ReplayReport } from "./replay-report.js";

/**
 * The same report with a keyed digest for every client and user agent, also where they stand in sentences; lines that could
 * not be read are left out. All that is counted stays. Equal names get equal digests under one key; without a key one is
 * made up and forgotten, so that nobody can try names.
 */
export function anonymised(report: ReplayReport, key?: string): ReplayReport {
  const secret = key ?? randomBytes(32);
  const digest = (kind: string, name: string) =>
    `${kind}-${createHmac("sha256", secret).update(`${kind}\0${name}`).digest("hex").slice(0, 12)}`;
  const known = new Map<string, string>();
  collect(report, known, digest);
  // Longer ones first: one may be the begin of another.
  const names = [...known].sort(([a], [b]) => b.length - a.length);
  const inWords = (text: string) =>
    names.reduce((words, [name, made]) => (name.length < 3 ? words : words.replaceAll(name, made)), text);
  const hidden = (value: unknown, name: string): unknown => {
    if (typeof value === "string") {
      if (Object.hasOwn(kinds, name)) return known.get(value) ?? value;
      return sentences.has(name) ? inWords(value) : value;
    }
    if (Array.isArray(value)) return value.map((each) => hidden(each, name));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([each, part]) => [each, hidden(part, each)]));
  };
  const { input, ...rest } = report;
  return { ...(hidden(rest, "") as typeof rest), input: { ...input, samples: [] } };
}

/** Fields that name somebody. */
const kinds: Readonly<Record<string, string>> = { client: "client", address: "client", userAgent: "agent" };
const sentences = new Set(["words", "notes"]);

function collect(
  value: unknown,
  known: Map<string, string>,
  digest: (kind: string, name: string) => string,
): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind !== undefined && typeof part === "string") known.set(part, digest(kind, part));
    else collect(part, known, digest);
  }
}
