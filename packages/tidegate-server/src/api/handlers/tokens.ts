import type { Handler } from "../handler.js";
import type { TokensAnswer } from "../types.js";

export const tokens: Handler<TokensAnswer> = async ({ data }) => ({
  body: { tokens: await data.tokens.list() },
});
