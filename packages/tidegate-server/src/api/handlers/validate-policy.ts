import { problemsOf } from "../../config/config-file-error.js";
import type { Handler } from "../handler.js";
import { parseAs, policyText } from "../shapes.js";
import type { ValidateAnswer } from "../types.js";

export const validatePolicy: Handler<ValidateAnswer> = async ({ validate }, ask) => {
  const { text } = parseAs(policyText, await ask.body(), "body");
  try {
    validate(text);
    return { body: { ok: true, problems: [] } };
  } catch (error) {
    return { body: { ok: false, problems: problemsOf(error) } };
  }
};
