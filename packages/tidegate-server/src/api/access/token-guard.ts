import type { NamedToken } from "../../data.js";
import { ApiProblem } from "../api-problem.js";

/** Stops what would leave tokens and nobody who may change them: it could only be mended in the settings. */
export function guardTokens(
  after: readonly Pick<NamedToken, "role" | "until">[],
  hasOwnToken: boolean,
): void {
  const isAdmin = ({ role, until = Number.POSITIVE_INFINITY }: Pick<NamedToken, "role" | "until">): boolean =>
    role === "admin" && until > Date.now();
  if (hasOwnToken || after.length === 0 || after.some(isAdmin)) return;
  throw new ApiProblem({
    status: 409,
    code: "TG_GUARD",
    detail:
      "As soon as there is a token everybody needs one, and nobody would be left who may make or revoke them. Nothing was changed.",
    help: "Make one of the role admin first, or set admin.token in tidegate.yaml.",
  });
}
