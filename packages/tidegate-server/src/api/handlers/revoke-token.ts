import { guardTokens } from "../access/token-guard.js";
import { notFound } from "../api-problem.js";
import type { Handler } from "../handler.js";
import { note } from "../note.js";
import type { TokenRevokedAnswer } from "../types.js";

/** By id or name. Its sessions end with it. */
export const revokeToken: Handler<TokenRevokedAnswer> = async (parts, ask) => {
  const { data, access } = parts;
  const wanted = ask.param("id");
  const who = ask.who();
  return parts.turn("tokens", async () => {
    const all = await data.tokens.list();
    const others = all.filter(({ id, name }) => id !== wanted && name !== wanted);
    if (others.length < all.length) guardTokens(others, access.hasOwnToken);
    const revoked = await data.tokens.revoke(wanted);
    if (revoked === undefined)
      throw notFound("There is no such token.", "GET /v1/tokens lists them, by id and name.");
    access.changed();
    await data.sessions.removeOfToken(revoked.id);
    access.changed();
    await note(parts, { who, what: "token.revoke", target: revoked.name, before: revoked });
    return { body: { revoked } };
  });
};
