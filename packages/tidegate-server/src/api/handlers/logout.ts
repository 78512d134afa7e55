import type { Handler } from "../handler.js";
import { noBody, parseAs } from "../shapes.js";
import type { LogoutAnswer } from "../types.js";

export const logout: Handler<LogoutAnswer> = async ({ access }, ask) => {
  parseAs(noBody, await ask.body(), "body");
  const { setCookie } = await access.logout(ask.req);
  return { body: { status: "logged out" }, headers: { "Set-Cookie": setCookie } };
};
