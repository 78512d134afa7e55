import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Session, Sessions, Tokens } from "../../data.js";
import { type Caller, noToken } from "./caller.js";
import { cameByHttps, cookieName, cookieOf, digestOf } from "./credentials.js";
import { unknownCaller } from "./problems.js";

/** A browser's session, just begun. */
export interface Login {
  readonly session: Session;
  readonly csrf: string;
  readonly setCookie: string;
}

/** What a session is begun with. `until` where that ends earlier than a session would. */
export type Entitled = Omit<Session, "until"> & { readonly until?: number };

export interface LoginDesk {
  begin(req: IncomingMessage, entitled: Entitled): Promise<Login>;
  end(req: IncomingMessage): Promise<{ readonly setCookie: string }>;
  /** A code that logs in once, within ten minutes, as whoever made it. */
  makeCode(caller: Pick<Caller, "role" | "name" | "tokenId">): Promise<OneTimeCode>;
  /** Takes a code away. Undefined: it was used, has ended, or never was. */
  takeCode(code: string): Promise<Entitled | undefined>;
}

export interface OneTimeCode {
  readonly code: string;
  readonly until: number;
}

export interface LoginDeskOptions {
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  /** Whose word on how a request came is believed. */
  readonly isTrusted: (peer: string) => boolean;
  readonly now: () => number;
}

const sessionMs = 12 * 3_600_000;
const codeMs = 600_000;

export function loginDesk({ tokens, sessions, isTrusted, now }: LoginDeskOptions): LoginDesk {
  const cookieText = (req: IncomingMessage, value: string, ms: number): string =>
    [
      `${cookieName}=${value}`,
      "Path=/",
      `Max-Age=${Math.max(0, Math.floor(ms / 1000))}`,
      "HttpOnly",
      "SameSite=Strict",
      ...(cameByHttps(req, isTrusted) ? ["Secure"] : []),
    ].join("; ");

  async function forgetCookie(req: IncomingMessage): Promise<void> {
    const cookie = cookieOf(req);
    if (cookie !== undefined) await sessions.remove(digestOf("session", cookie));
  }

  return {
    async begin(req, { tokenId, role, name, until = Number.POSITIVE_INFINITY }) {
      const cookie = randomBytes(32).toString("base64url");
      const digest = digestOf("session", cookie);
      const ends = Math.min(now() + sessionMs, until);
      const session = { tokenId, role, ...(name !== undefined && { name }), until: ends };
      await sessions.add(digest, session);
      // Revoked meanwhile: whoever did that may have looked for its sessions before this one was there.
      if (name !== undefined && !(await tokens.list()).some(({ id }) => id === tokenId)) {
        await sessions.remove(digest);
        throw unknownCaller("This token was revoked.");
      }
      await forgetCookie(req);
      return {
        session,
        csrf: digestOf("csrf", cookie),
        setCookie: cookieText(req, cookie, session.until - now()),
      };
    },
    async end(req) {
      await forgetCookie(req);
      return { setCookie: cookieText(req, "", 0) };
    },
    async makeCode({ role, name, tokenId = noToken }) {
      const code = randomBytes(18).toString("base64url");
      const until = now() + codeMs;
      const session = { tokenId, role, ...(name !== undefined && { name }), until };
      await sessions.add(digestOf("code", code), session);
      return { code, until };
    },
    async takeCode(code) {
      const taken = await sessions.remove(digestOf("code", code));
      if (taken === undefined) return undefined;
      const { until: _, ...entitled } = taken;
      const until = (await tokens.list()).find(({ id }) => id === taken.tokenId)?.until;
      return until === undefined ? entitled : { ...entitled, until };
    },
  };
}
