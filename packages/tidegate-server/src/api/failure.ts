import { randomUUID } from "node:crypto";
import { ConfigError, StoreError, TidegateError } from "tidegate";
import { ConfigFileError } from "../config/config-file-error.js";
import { EdgeError } from "../edge.js";
import type { Log } from "../log.js";
import { ApiProblem } from "./api-problem.js";

/** What an error is to whoever asked. Only what was not foreseen is logged, and named to the caller by an id alone. */
export function failureOf(error: unknown, log: Log, request: { method: string; path: string }): ApiProblem {
  if (error instanceof ApiProblem) return error;
  if (error instanceof TidegateError) return known(error);
  const id = randomUUID();
  log.error({ err: error, id, ...request }, "an API request failed");
  return new ApiProblem({
    status: 500,
    code: "TG_INTERNAL",
    detail: `This is our fault. The log has it under ${id}.`,
    id,
  });
}

function known(error: TidegateError): ApiProblem {
  const { code, help } = error;
  const status = statusOf(error);
  return new ApiProblem(
    {
      status,
      code,
      detail: detailOf(error),
      help,
      ...(error instanceof ConfigError && { path: error.path }),
      ...(error instanceof ConfigFileError && { problems: error.problems }),
    },
    status === 503 ? { "Retry-After": "1" } : {},
  );
}

/** Messages end with the help and the code, which the answer has apart. */
function detailOf({ message, help, code }: TidegateError): string {
  const said = message.replace(` [${code}]`, "");
  return help !== "" && said.endsWith(` ${help}`) ? said.slice(0, -help.length - 1) : said;
}

const statuses: Readonly<Record<string, number>> = {
  TG_POLICY_CONFLICT: 409,
  TG_POLICY_VERSION: 404,
  TG_CUSTOMERS_REFUSED: 409,
  TG_CUSTOMERS_UNREACHABLE: 503,
  TG_DATA_CLOSED: 503,
  TG_DATA_UNREACHABLE: 503,
  TG_DATA_WRITE: 503,
};

function statusOf(error: TidegateError): number {
  const status = statuses[error.code];
  if (status !== undefined) return status;
  if (error instanceof ConfigError || error instanceof ConfigFileError) return 400;
  if (error instanceof EdgeError) return error.transient ? 503 : 502;
  if (error instanceof StoreError || ("transient" in error && error.transient === true)) return 503;
  return 500;
}
