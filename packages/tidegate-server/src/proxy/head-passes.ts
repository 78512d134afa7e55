import { randomBytes } from "node:crypto";
import type { ClientResolver } from "tidegate/http";
import type { Problem } from "../problem.js";
import { tellForwarded } from "./forwarded.js";
import { withoutNamed } from "./hop-by-hop.js";
import { problems } from "./problems.js";
import type { RequestHead } from "./request-head.js";

/** Looks at one thing, and answers what is wrong with it; or changes what goes on. */
type Pass = (head: RequestHead) => Problem | undefined;

const mostLines = 1000;
const originForm = /^\/[!-"$-~\x80-\xff]*$/;
const absoluteForm = /^https?:\/\/([^/?]*)([!-"$-~\x80-\xff]*)$/i;
const hostForm = /^(?=.{1,261}$)(?:[\w~-]+(?:\.[\w~-]+)*\.?|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** In this order: what makes the framing doubtful comes first, and what is told upstream last. */
export function headPasses(clientOf: ClientResolver): Pass {
  const name = `tidegate-${randomBytes(4).toString("hex")}`;
  const passes: readonly Pass[] = [
    checkVersion,
    countLines,
    checkFraming,
    checkMethod,
    readTarget,
    checkHost,
    checkIdentity,
    dropNamed,
    tellForwarded(clientOf),
    passVia(name),
  ];
  return (head) => {
    for (const pass of passes) {
      const problem = pass(head);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** Node's parser takes 0.9 and 2.0 too, and reads them as if they were 1.0. */
function checkVersion({ isHttp1 }: RequestHead): Problem | undefined {
  return isHttp1 ? undefined : problems.version;
}

/** Node shows the gate no more than these. */
function countLines({ lineCount }: RequestHead): Problem | undefined {
  return lineCount > mostLines ? problems.headers : undefined;
}

/** Node's parser refuses most of it already. Whoever reads a body's end differently than we do is fed smuggled requests. */
function checkFraming({ lengthCount, contentLength, encodingCount, encoding, isHttp10 }: RequestHead) {
  if (lengthCount + encodingCount > 1) return problems.lengths;
  if (lengthCount === 1 && !Number.isSafeInteger(contentLength)) return problems.lengths;
  if (encodingCount === 1 && (isHttp10 || encoding.toLowerCase() !== "chunked")) return problems.encoding;
  return undefined;
}

function checkMethod({ method }: RequestHead): Problem | undefined {
  return method === "TRACE" || method === "CONNECT" ? problems.method : undefined;
}

function readTarget(head: RequestHead): Problem | undefined {
  const { target } = head;
  if (originForm.test(target)) {
    head.path = target;
    return undefined;
  }
  if (target === "*" && head.method === "OPTIONS") {
    head.path = target;
    return undefined;
  }
  const [, authority, path] = absoluteForm.exec(target) ?? [];
  if (authority === undefined || path === undefined) return problems.target;
  head.path = path.startsWith("/") ? path : `/${path}`;
  // HTTP/1.0 may leave Host out, but then the gate has judged a request for no host.
  if (head.hostCount === 0) return problems.host;
  return authority.toLowerCase() === head.host.toLowerCase() ? undefined : problems.hostsDiffer;
}

function checkHost({ host, hostCount, isHttp10 }: RequestHead): Problem | undefined {
  if (hostCount === 0 && isHttp10) return undefined;
  return hostCount === 1 && hostForm.test(host) ? undefined : problems.host;
}

function checkIdentity({ isIdentityTwice }: RequestHead): Problem | undefined {
  return isIdentityTwice ? problems.identityTwice : undefined;
}

function dropNamed(head: RequestHead): undefined {
  if (head.connection !== "") head.headers = withoutNamed(head.headers, head.connection);
}

/** A request that comes back to the process that sent it would go round for ever. */
function passVia(name: string): Pass {
  const own10 = `1.0 ${name}`;
  const own11 = `1.1 ${name}`;
  return ({ via, headers, isHttp10 }) => {
    if (via.includes(name)) return problems.loop;
    const own = isHttp10 ? own10 : own11;
    headers.push("via", via === "" ? own : `${via}, ${own}`);
    return undefined;
  };
}
