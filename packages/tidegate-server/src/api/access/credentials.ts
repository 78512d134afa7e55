import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

export const cookieName = "tidegate_session";

/** What is kept of a secret. What it is for goes in, so that no code is taken for a session, nor the other way round. */
export function digestOf(kind: "token" | "session" | "code" | "csrf", secret: string): string {
  return createHash("sha256")
    .update(kind === "token" ? secret : `tidegate ${kind}\n${secret}`)
    .digest(kind === "csrf" ? "base64url" : "hex");
}

/** Takes the same time whatever is guessed. */
export function isSame(right: string, guess: string): boolean {
  return timingSafeEqual(Buffer.from(digestOf("token", right)), Buffer.from(digestOf("token", guess)));
}

/** The session a browser brings. Of several nobody knows which is meant: then none. */
export function cookieOf({ headers }: IncomingMessage): string | undefined {
  const brought = (headers.cookie ?? "")
    .split(";")
    .map((each) => each.trim())
    .filter((each) => each.startsWith(`${cookieName}=`))
    .map((each) => each.slice(cookieName.length + 1));
  const [only] = brought;
  return brought.length === 1 && only !== undefined && /^[\w-]{43}$/.test(only) ? only : undefined;
}

/** Browsers send these by themselves, and no page can keep them from it. `Sec-Fetch-Mode` is sent by programs too. */
export function isBrowser({ headers }: IncomingMessage): boolean {
  return ["origin", "sec-fetch-site", "sec-fetch-dest", "sec-fetch-user"].some(
    (name) => headers[name] !== undefined,
  );
}

/** Another site's page, or one beside ours that is not ours, had the browser ask. */
export function isForeignPage({ headers }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  return site !== undefined && site !== "same-origin" && site !== "none";
}

/** How the browser sees it: it says so itself, or whoever ends TLS for us does. */
export function cameByHttps(req: IncomingMessage, isTrusted: (peer: string) => boolean): boolean {
  const { headers, socket } = req;
  if ("encrypted" in socket && socket.encrypted === true) return true;
  if (headers.origin !== undefined) return headers.origin.startsWith("https://");
  const [proto = ""] = String(headers["x-forwarded-proto"] ?? "").split(",");
  return proto.trim().toLowerCase() === "https" && isTrusted(socket.remoteAddress ?? "");
}
