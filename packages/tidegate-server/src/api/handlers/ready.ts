import type { Handler } from "../handler.js";
import { readiness } from "../readiness.js";
import type { ReadyAnswer } from "../types.js";

export const ready: Handler<ReadyAnswer> = async ({ status }) => {
  const body = readiness(await status());
  return { status: body.status === "ready" ? 200 : 503, body };
};
