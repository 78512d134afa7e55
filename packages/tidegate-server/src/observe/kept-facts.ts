import type { Decision, Subject } from "tidegate";
import { ofItsOwn } from "../fact-text.js";

export const longestFact = 200;
/** A part of a text keeps the whole of it in memory: of longer ones it is copied. */
const longestWhole = 500;

/** What is remembered of a text: not more than its beginning. */
export function cut(text: string, end: number = text.length): string {
  const most = Math.min(end, longestFact);
  if (text.length <= most) return text;
  const part = text.slice(0, most);
  return text.length <= longestWhole ? part : ofItsOwn(part);
}

export function cutIf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : cut(String(text));
}

/** Nothing behind the `?`: it may be secret. */
export function pathOf({ path }: Subject): string {
  const end = path.indexOf("?");
  return cut(path, end < 0 ? path.length : end);
}

/** What stands for the user name in basic auth is often a key to an API: unless a rule counts by it, it is not kept. */
export function accountOf({ account }: Subject, { verdicts }: Decision): string | undefined {
  if (account === undefined || verdicts.length === 0) return undefined;
  const name = account.trim().toLowerCase();
  return name !== "" && verdicts.some(({ key }) => key.includes(name)) ? account : undefined;
}
