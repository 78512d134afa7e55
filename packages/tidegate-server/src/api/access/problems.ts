import type { Role } from "../../data.js";
import { ApiProblem } from "../api-problem.js";

export function unknownCaller(detail: string): ApiProblem {
  return new ApiProblem({ status: 401, code: "TG_ADMIN_TOKEN", detail }, { "WWW-Authenticate": "Bearer" });
}

export function tooManyGuesses(retryAfterMs: number): ApiProblem {
  return new ApiProblem(
    {
      status: 429,
      code: "TG_ADMIN_TOKEN",
      detail: "Too many wrong tokens came from this address. Wait a minute.",
    },
    { "Retry-After": `${Math.ceil(Math.min(retryAfterMs, 3_600_000) / 1000)}` },
  );
}

export function roleNeeded(needed: Role, role: Role): ApiProblem {
  return new ApiProblem({
    status: 403,
    code: "TG_ROLE",
    detail: `This takes the role ${needed}, and yours is ${role}.`,
    help: `Ask with a token of the role ${needed}, or have somebody do it who has one.`,
  });
}

export function csrfMissing(): ApiProblem {
  return new ApiProblem({
    status: 403,
    code: "TG_CSRF",
    detail: "A change by a session has to carry the session's own value in the header Tidegate-Csrf.",
    help: "GET /v1/session tells it as `csrf`.",
  });
}

export function foreignPage(): ApiProblem {
  return new ApiProblem({
    status: 403,
    code: "TG_ORIGIN",
    detail: "A session is taken from pages served from here only.",
  });
}
