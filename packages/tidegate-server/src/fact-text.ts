import { pathOf } from "tidegate/http";

/** Of longer facts the rest is cut off, so that whoever sends them is judged all the same. Those alike up to here are counted as one. */
const longest = 16_384;

/** The gate looks at no more of an account. */
const longestAccount = 1024;

export function cutText(text: string): string {
  return text.length <= longest ? text : text.slice(0, longest);
}

/** Rules for `*.example.com` look at a host's end. */
export function cutHost(host: string): string {
  return host.length <= longest ? host : host.slice(-longest);
}

/** Blanks before it are no part of a name: cut among them, nothing would be left. */
export function cutAccount(account: string): string {
  return account.length <= longestAccount ? account : account.trimStart().slice(0, longestAccount);
}

/**
 * Too long with its query, it loses that. Too long by itself, it may be any path: what is cut off could lead elsewhere, as in
 * `/x/../x/../login`. The gate takes a long path with two slashes in a row for one nobody can read, and applies every rule to it.
 */
export function cutPath(path: string): string {
  if (path.length <= longest) return path;
  const bare = pathOf(path.slice(0, path.search(/[?#]|$/)));
  return bare.length <= longest ? bare : `${bare.slice(0, longest - 2)}//`;
}

/** Ids are often numbers. Anything but text and numbers names nobody. */
export function nameText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}

/** For texts that are kept: V8 holds all of a long one in memory for a piece cut from it. */
export function ofItsOwn(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}
