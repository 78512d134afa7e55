import type { Handler } from "../handler.js";
import { loginBody, parseAs } from "../shapes.js";
import type { SessionAnswer } from "../types.js";

export const login: Handler<SessionAnswer> = async ({ access, log }, ask) => {
  const { token, code = "" } = parseAs(loginBody, await ask.body(), "body");
  const { session, csrf, setCookie } = await access.login(
    ask.req,
    token === undefined ? { code } : { token },
  );
  const { role, name = null, until } = session;
  log.info({ name, role, peer: ask.req.socket.remoteAddress }, "somebody logged in");
  return { body: { role, name, until, csrf }, headers: { "Set-Cookie": setCookie } };
};
