import { jsonKeys } from "./json-keys.js";

export type BodyForm = "form" | "json";

/** More than a login has. Each is compared, so more would be work a client can ask for. */
const mostFields = 256;

/** The name a body has in this field. Where the app could read another one in it, it names nobody. */
export function accountIn(body: Uint8Array, form: BodyForm, field: string): string | undefined {
  const text = new TextDecoder().decode(body);
  return form === "form" ? inForm(text, field) : inJson(text, field);
}

/** Several values name nobody: apps differ in which they take. Some end a field with a semicolon too. */
function inForm(text: string, field: string): string | undefined {
  const fields = text.match(/[^&;]+/g) ?? [];
  if (fields.length > mostFields) return undefined;
  const readings = text.includes(";") ? [text, text.replaceAll(";", "&")] : [text];
  const isAlike = alikeTo(field);
  const alike = readings
    .flatMap((reading) => [...new URLSearchParams(reading)])
    .filter(([key]) => isAlike(key));
  const values = new Set(alike.map(([, value]) => value));
  if (values.size !== 1 || !alike.some(([key]) => key === field)) return undefined;
  return [...values][0] || undefined;
}

function inJson(text: string, field: string): string | undefined {
  const map = parsed(text);
  if (typeof map !== "object" || map === null || !Object.hasOwn(map, field)) return undefined;
  const keys = jsonKeys(text);
  if (keys.length > mostFields || keys.filter(alikeTo(field)).length !== 1) return undefined;
  const value = (map as Record<string, unknown>)[field];
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * Tells the keys some app takes for this field. Apps ignore case or blanks, stop at a NUL, write `_` for a dot, a blank or an
 * open bracket (PHP), and make a list of `email[]`.
 */
function alikeTo(field: string): (key: string) => boolean {
  const wanted = folded(field);
  return (key) => {
    if (/^\w*$/.test(key)) return key.toLowerCase() === wanted;
    const plain = folded(key);
    const bracket = plain.indexOf("[");
    if (plain === wanted || bracket < 0) return plain === wanted;
    return [plain.slice(0, bracket), plain.replace("[", "_")].includes(wanted);
  };
}

function folded(key: string): string {
  return key
    .split("\0", 1)
    .join()
    .normalize("NFKC")
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\ufffd]/gu, "")
    .trim()
    .replace(/[ .]/g, "_")
    .toLowerCase();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
