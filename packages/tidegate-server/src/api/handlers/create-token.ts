import { randomBytes } from "node:crypto";
import { type Duration, parseDuration } from "tidegate";
import { digestOf } from "../access/credentials.js";
import { guardTokens } from "../access/token-guard.js";
import { ApiProblem } from "../api-problem.js";
import type { Handler } from "../handler.js";
import { note } from "../note.js";
import { parseAs, tokenBody } from "../shapes.js";
import type { TokenCreatedAnswer } from "../types.js";

/** The token is told here and never again. */
export const createToken: Handler<TokenCreatedAnswer> = async (parts, ask) => {
  const { data, access } = parts;
  const { name, role, for: duration } = parseAs(tokenBody, await ask.body(), "body");
  const who = ask.who();
  const until =
    duration === undefined ? {} : { until: Date.now() + parseDuration(duration as Duration, "body.for") };
  const secret = `tg_${randomBytes(32).toString("base64url")}`;
  return parts.turn("tokens", async () => {
    guardTokens([...(await data.tokens.list()), { role, ...until }], access.hasOwnToken);
    const token = await data.tokens.add({ name, role, createdBy: who, ...until }, digestOf("token", secret));
    if (token === undefined) throw taken(name);
    access.changed();
    await note(parts, { who, what: "token.create", target: name, after: token });
    return { status: 201, body: { token, secret } };
  });
};

function taken(name: string): ApiProblem {
  return new ApiProblem({
    status: 409,
    code: "TG_TOKEN_NAME",
    path: "body.name",
    detail: `There is a token named ${JSON.stringify(name)} already.`,
    help: "Take another name, or revoke that one first.",
  });
}
