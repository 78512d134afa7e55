import type { Handler } from "../handler.js";
import { note } from "../note.js";
import { noBody, parseAs } from "../shapes.js";
import type { LoginCodeAnswer } from "../types.js";

export const loginCode: Handler<LoginCodeAnswer> = async (parts, ask) => {
  parseAs(noBody, await ask.body(), "body");
  const who = ask.who();
  const { code, until } = await parts.access.makeCode(ask.caller);
  await note(parts, { who, what: "token.login-code", after: { until } });
  return { status: 201, body: { code, until } };
};
