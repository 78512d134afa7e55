/** Of a client, what is known. */
export interface Facts {
  readonly ip?: string;
  readonly method?: string;
  readonly host?: string;
  readonly path?: string;
  readonly user?: string;
  readonly customer?: string;
  readonly account?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Wanted =
  | { readonly facts: Facts }
  | { readonly decision: string }
  /** Whoever came lately from a block. */
  | { readonly within: string }
  /** Whoever stands under a fingerprint. */
  | { readonly key: string }
  /** It is written as none of these. */
  | { readonly unknown: string };

const address = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f.]*:[0-9a-f:.]*(?:%[\w.-]+)?)(?:\/\d{1,3})?$/i;

/** Who is looked for: `203.0.113.7`, `ip:203.0.113.7 GET /search`, `203.0.113.0/24`, `customer:acme`, a fingerprint, or a decision's id. */
export function wantedOf(text: string): Wanted {
  const trimmed = text.trim();
  const named = /^(ip|user|customer|account|decision):(.+)$/s.exec(trimmed);
  const [, kind, rest = ""] = named ?? [];
  if (kind === undefined && /^(?:[0-9a-f]{64}|[0-9a-f]{40})$/i.test(trimmed))
    return { key: trimmed.toLowerCase() };
  if (kind === "decision") return { decision: rest };
  if (kind !== undefined && kind !== "ip") return { facts: { [kind]: rest } };
  const [ip = "", ...words] = (kind === "ip" ? rest : trimmed).split(/\s+/);
  // Every address has a point or a colon, and no id has.
  if (!/[.:]/.test(ip)) return { decision: trimmed };
  if (kind === undefined && !address.test(ip)) return { unknown: trimmed };
  if (words.length === 0 && /\/\d{1,3}$/.test(ip)) return { within: ip };
  const path = words.find((word) => word.startsWith("/"));
  const method = words.find((word) => /^[A-Z]+$/.test(word));
  return { facts: { ip, ...(method !== undefined && { method }), ...(path !== undefined && { path }) } };
}
