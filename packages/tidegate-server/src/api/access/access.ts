import type { IncomingMessage } from "node:http";
import { peerTest } from "tidegate/http";
import type { Data, Role, Session } from "../../data.js";
import { bearerToken } from "../../listen/bearer.js";
import type { Log } from "../../log.js";
import { isGuessable } from "../../secret.js";
import type { Settings } from "../../settings.js";
import { type Caller, mayAct } from "./caller.js";
import { cookieOf, digestOf, isBrowser, isForeignPage, isSame } from "./credentials.js";
import { type FoundToken, tokenFinder } from "./find-token.js";
import { guesses } from "./guesses.js";
import { type Login, type LoginDesk, loginDesk } from "./login.js";
import { openHouse } from "./open-house.js";
import { csrfMissing, foreignPage, roleNeeded, unknownCaller } from "./problems.js";
import { shortMemory } from "./short-memory.js";

/** Who may ask what. */
export interface Access extends Pick<LoginDesk, "makeCode"> {
  /** Throws unless whoever sent this has the role. May be asked again while an answer goes on. */
  check(req: IncomingMessage, needed: Role): Promise<Caller>;
  login(req: IncomingMessage, by: { readonly token: string } | { readonly code: string }): Promise<Login>;
  logout(req: IncomingMessage): Promise<{ readonly setCookie: string }>;
  /** A token was made or revoked here: that holds from the next request on. */
  changed(): void;
  /** The settings have a token, so somebody may always do everything. */
  readonly hasOwnToken: boolean;
}

export interface AccessOptions {
  readonly settings: Pick<Settings, "admin"> & Partial<Pick<Settings, "trustedProxies">>;
  readonly data: Pick<Data, "tokens" | "sessions">;
  readonly log: Log;
  readonly clock?: () => number;
}

export function openAccess({ settings, data, log, clock: now = Date.now }: AccessOptions): Access {
  const own = settings.admin.token;
  const finder = tokenFinder(settings.admin, data.tokens);
  const guessing = guesses();
  const isTrusted = peerTest(settings.trustedProxies ?? []);
  const desk = loginDesk({ ...data, isTrusted, now });
  const tokens = shortMemory(finder.find);
  const sessions = shortMemory(data.sessions.find);
  const house = openHouse(data.tokens);
  const usedAt = new Map<string, number>();

  const isCurrent = ({ until = Number.POSITIVE_INFINITY }: { readonly until?: number }): boolean =>
    until > now();

  /**
   * The right token is heard however many wrong ones came from its address, or any neighbour could keep its owner out. One that
   * could be guessed is not, and never heard of it is counted before it is looked at, so that none slips through beside the others.
   */
  async function byToken(req: IncomingMessage, token: string, needed: Role): Promise<FoundToken> {
    const digest = digestOf("token", token);
    const isSafe = !isGuessable(token);
    const wasKnown = tokens.has(digest);
    const takeBack = isSafe ? undefined : wasKnown ? await guessing.listen(req) : await guessing.count(req);
    const known = await tokens.get(digest).catch(async (error) => {
      await takeBack?.();
      throw error;
    });
    if (known !== undefined && isCurrent(known.value)) {
      await takeBack?.();
      return lessened(known, needed);
    }
    if (isSafe || wasKnown) await guessing.count(req);
    throw unknownCaller(known === undefined ? "This is not the token." : "This token has ended.");
  }

  /** What is known from before an outage is enough to look. */
  function lessened<T extends { readonly role: Role }>(
    { value, outage }: { readonly value: T; readonly outage?: Error },
    needed: Role,
  ): T {
    if (outage === undefined) return value;
    if (needed !== "viewer") throw outage;
    return { ...value, role: "viewer" };
  }

  async function bySession(req: IncomingMessage, cookie: string, needed: Role): Promise<Caller | undefined> {
    const known = await sessions.get(digestOf("session", cookie));
    if (known === undefined || !isCurrent(known.value) || !finder.mayGoOn(known.value.tokenId))
      return undefined;
    if (isForeignPage(req)) throw foreignPage();
    const csrf = digestOf("csrf", cookie);
    if (!isRead(req) && !isSame(csrf, String(req.headers["tidegate-csrf"] ?? ""))) throw csrfMissing();
    const { tokenId, role, name, until }: Session = lessened(known, needed);
    return { tokenId, role, ...(name !== undefined && { name }), session: { until, csrf } };
  }

  async function callerOf(req: IncomingMessage, needed: Role): Promise<Caller> {
    const { authorization } = req.headers;
    if (authorization !== undefined) {
      const { id, role, name } = await byToken(req, bearerToken(authorization) ?? "", needed);
      if (name !== undefined) used(id);
      return { tokenId: id, role, ...(name !== undefined && { name }) };
    }
    const cookie = cookieOf(req);
    const caller = cookie === undefined ? undefined : await bySession(req, cookie, needed);
    if (caller !== undefined) return caller;
    if (isBrowser(req))
      throw unknownCaller(cookie === undefined ? "Log in first." : "This session has ended. Log in again.");
    const local = own === undefined ? await house.callerOf(needed) : undefined;
    if (local !== undefined) return local;
    throw unknownCaller("Send the token as `Authorization: Bearer <token>`.");
  }

  /** Noted once a minute, and nobody waits for it. */
  function used(id: string): void {
    house.close();
    const minute = Math.floor(now() / 60_000) * 60_000;
    if (usedAt.get(id) === minute) return;
    usedAt.set(id, minute);
    data.tokens.touch(id, minute).catch((error) => log.debug({ err: error }, "the use was not noted"));
  }

  return {
    hasOwnToken: own !== undefined,
    makeCode: desk.makeCode,
    async check(req, needed) {
      const caller = await callerOf(req, needed);
      if (!mayAct(caller, needed)) throw roleNeeded(needed, caller.role);
      return caller;
    },
    async login(req, by) {
      if ("token" in by) {
        const { id, role, name, until } = await byToken(req, by.token, "admin");
        if (name !== undefined) used(id);
        return desk.begin(req, {
          tokenId: id,
          role,
          ...(name !== undefined && { name }),
          ...(until !== undefined && { until }),
        });
      }
      const entitled = await desk.takeCode(by.code);
      if (entitled === undefined || !finder.mayGoOn(entitled.tokenId)) {
        await guessing.count(req);
        throw unknownCaller("This code is not known: it was used, or is older than ten minutes.");
      }
      return desk.begin(req, entitled);
    },
    async logout(req) {
      const ended = await desk.end(req);
      sessions.forget();
      return ended;
    },
    changed() {
      for (const each of [tokens, sessions, house]) each.forget();
      usedAt.clear();
    },
  };
}

function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}
