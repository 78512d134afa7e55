import type { Handler } from "../handler.js";
import type { SessionAnswer } from "../types.js";

export const session: Handler<SessionAnswer> = (_parts, { caller: { role, name = null, session } }) => ({
  body: { role, name, until: session?.until ?? null, csrf: session?.csrf ?? null },
});
