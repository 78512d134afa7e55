import { cutAccount, cutHost, cutPath, cutText, nameText } from "../fact-text.js";
import type { AskedOfMany } from "./types.js";

/** A subject as it is sent: what a client made too long is cut as the service would cut it, so that the question stays one it takes. */
export function toldSubject(subject: AskedOfMany): object {
  const { ip, method, host, path, user, customer, account } = subject;
  return {
    ...subject,
    ip: cutIfText(ip, cutText),
    method: cutIfText(method, cutText),
    host: cutIfText(host, cutHost),
    path: cutIfText(path, cutPath),
    user: told(user, cutText),
    customer: told(customer, cutText),
    account: told(account, cutAccount),
  };
}

/** Anything else is left to the service, which says what is wrong with it. */
function cutIfText(value: unknown, cut: (text: string) => string): unknown {
  return typeof value === "string" ? cut(value) : value;
}

/** Null names nobody. It is sent, since a request with a name in it is not the app's own. */
function told(value: unknown, cut: (text: string) => string): string | null | undefined {
  if (value === undefined) return undefined;
  const text = nameText(value);
  return text === undefined ? null : cut(text);
}
