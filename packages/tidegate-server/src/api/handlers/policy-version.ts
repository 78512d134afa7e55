import { notFound } from "../api-problem.js";
import { policyTag } from "../conflict/tags.js";
import type { Handler } from "../handler.js";
import type { PolicyVersionAnswer } from "../types.js";

export const policyVersion: Handler<PolicyVersionAnswer> = async ({ data }, { param }) => {
  const id = param("id");
  const version = /^[1-9]\d{0,14}$/.test(id) ? await data.policies.get(Number(id)) : undefined;
  if (version === undefined)
    throw notFound("There is no such policy version.", "GET /v1/policy/versions lists them.");
  return { body: { version }, etag: policyTag(version.id) };
};
