import type { Problem } from "../problem.js";

function problem(status: number, code: string, title: string, detail: string): Problem {
  return { status, code, title, detail };
}

const invalid = (detail: string): Problem => problem(400, "TG_REQUEST_INVALID", "Bad Request", detail);

/** What the proxy itself answers. Nothing a client or an upstream said is repeated in it. */
export const problems = {
  target: invalid(
    "The request target is neither a path nor an absolute http URL, or holds a fragment or control characters.",
  ),
  path: invalid("The path can be understood as one of several upstreams'. Send it in its plain form."),
  host: invalid("A request names its host once, in Host, as a name or address with or without a port."),
  hostsDiffer: invalid("The host in the request target and the Host header differ."),
  lengths: invalid("A body has one length: Content-Length or Transfer-Encoding, and either of them once."),
  encoding: invalid("The only transfer encoding taken is chunked, and only from HTTP/1.1."),
  identityTwice: invalid("A header that says who is logged in came more than once."),
  upgradeBody: invalid("A request that asks for another protocol has no body."),
  version: problem(
    505,
    "TG_REQUEST_VERSION",
    "HTTP Version Not Supported",
    "Requests are taken in HTTP/1.1 and HTTP/1.0.",
  ),
  headers: problem(
    431,
    "TG_REQUEST_HEADERS",
    "Request Header Fields Too Large",
    "There are more than 1000 header lines.",
  ),
  method: problem(
    405,
    "TG_REQUEST_METHOD",
    "Method Not Allowed",
    "CONNECT and TRACE are not passed on by this proxy.",
  ),
  expectation: problem(
    417,
    "TG_REQUEST_EXPECT",
    "Expectation Failed",
    "The only expectation that is met is 100-continue. Leave the Expect header out.",
  ),
  slowBody: problem(
    408,
    "TG_REQUEST_SLOW",
    "Request Timeout",
    "Nothing more of the body came for too long. Send it again, without a break.",
  ),
  large: problem(
    413,
    "TG_REQUEST_LARGE",
    "Content Too Large",
    "The body is larger than this proxy takes. Send less, or in parts.",
  ),
  loop: problem(
    508,
    "TG_REQUEST_LOOP",
    "Loop Detected",
    "This request has passed this proxy before: an upstream leads back to it.",
  ),
  noRoute: problem(404, "TG_ROUTE_NONE", "Not Found", "No upstream serves this host and path."),
  noneHealthy: problem(
    503,
    "TG_UPSTREAM_NONE",
    "Service Unavailable",
    "No origin of this upstream is healthy. Try again later.",
  ),
  busy: problem(
    503,
    "TG_UPSTREAM_BUSY",
    "Service Unavailable",
    "Too many requests wait for this upstream, or too many of yours. Try again later.",
  ),
  unreachable: problem(
    502,
    "TG_UPSTREAM_UNREACHABLE",
    "Bad Gateway",
    "No connection to the upstream could be made.",
  ),
  broke: problem(
    502,
    "TG_UPSTREAM_BROKE",
    "Bad Gateway",
    "The upstream closed the connection without an answer, or answered what is not HTTP.",
  ),
  slow: problem(504, "TG_UPSTREAM_SLOW", "Gateway Timeout", "The upstream did not answer in time."),
} as const satisfies Record<string, Problem>;
