import { describe, expect, it } from "vitest";
import { detectFormat } from "../detect-format.js";
import type { LogFormat, Parsed, ParserTerms } from "../line-parser.js";
import type { LoggedRequest } from "../logged-request.js";
import { alb } from "./alb.js";
import { caddy } from "./caddy.js";
import { combined, common } from "./combined.js";
import { decisionLog } from "./decision-log.js";
import { nginxJson } from "./nginx-json.js";
import { template } from "./template.js";
import { w3c } from "./w3c.js";

/** What a format makes of these lines, one by one, each in the middle of a larger text as when it is read. */
function parsed(format: LogFormat, lines: readonly string[], terms: ParserTerms = {}): Parsed[] {
  const parse = format.open(terms);
  return lines.map((line) => {
    const text = `before\n${line}\nafter "x" "y"\n`;
    const bytes = Buffer.from(text, "latin1");
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return parse(text, 7, 7 + line.length, view);
  });
}

function one(format: LogFormat, line: string, terms?: ParserTerms): LoggedRequest {
  const [request] = parsed(format, [line], terms);
  if (typeof request !== "object") throw new Error(`${request}: ${line}`);
  return request;
}

const at = Date.UTC(2026, 0, 31, 12, 0, 5);
const time = "[31/Jan/2026:13:00:05 +0100]";

describe("a combined log", () => {
  const line = `203.0.113.7 - - ${time} "GET /a?q=1 HTTP/1.1" 200 12 "https://x.example/" "Mozilla/5.0 (X11)"`;

  it("tells time, client, request, answer, referer and user agent", () => {
    const request = one(combined, line);
    expect(request).toMatchObject({
      at,
      ip: "203.0.113.7",
      method: "GET",
      path: "/a?q=1",
      outcome: { status: 200 },
    });
    expect(request.header("User-Agent")).toBe("Mozilla/5.0 (X11)");
    expect(request.header("referer")).toBe("https://x.example/");
    expect(request.header("cookie")).toBeUndefined();
    expect(request.account).toBeUndefined();
  });

  it.each([
    ["203.0.113.7", "203.0.113.7"],
    ["2001:db8::1", "2001:db8::1"],
    ["::ffff:203.0.113.7", "::ffff:203.0.113.7"],
  ])("takes the address %s as it stands", (written, ip) => {
    expect(one(combined, line.replace("203.0.113.7", written)).ip).toBe(ip);
  });

  it("gives back what nginx and Apache escaped", () => {
    const nginx = one(combined, line.replace("Mozilla/5.0 (X11)", String.raw`a\x22b\x5C\xC3\xA4`));
    expect(nginx.userAgent).toBe('a"b\\\u00c3\u00a4');
    const apache = one(combined, line.replace("Mozilla/5.0 (X11)", String.raw`a\"b\\`));
    expect(apache.userAgent).toBe('a"b\\');
    expect(one(combined, line.replace("/a?q=1", String.raw`/\x22x`)).path).toBe('/"x');
  });

  it.each([
    ["eva", "eva"],
    ["e", "e"],
    ["eva maria", "eva maria"],
    ["x [01/Jan/2030:00:00:00 +0000]", "x [01/Jan/2030:00:00:00 +0000]"],
    [String.raw`x] \"GET`, 'x] "GET'],
    ['""', undefined],
  ])("a user called %s can not move the time", (written, account) => {
    const request = one(combined, line.replace("- - [", `- ${written} [`));
    expect(request).toMatchObject({ at, path: "/a?q=1" });
    expect(request.account).toBe(account);
  });

  it("takes host and path apart where a whole address was asked for", () => {
    const request = one(combined, line.replace("/a?q=1", "http://shop.example:81/a"));
    expect(request).toMatchObject({ host: "shop.example:81", path: "/a" });
    expect(one(combined, line.replace("/a?q=1", "http://shop.example")).path).toBe("/");
  });

  it("takes a path with spaces, and one without a version", () => {
    expect(one(combined, line.replace("/a?q=1", "/a b")).path).toBe("/a b");
    expect(one(combined, line.replace("/a?q=1 HTTP/1.1", "/old")).path).toBe("/old");
  });

  it("skips what was never HTTP", () => {
    const never = ["-", "", String.raw`\x16\x03\x01\x00`, "hello world", String.raw`\x16 /x HTTP/1.1`];
    const lines = never.map((request) => line.replace("GET /a?q=1 HTTP/1.1", request));
    expect(parsed(combined, lines)).toEqual(never.map(() => "skipped"));
  });

  it.each([
    "",
    " ",
    "GET / HTTP/1.1",
    line.slice(0, 60),
    line.slice(0, -1),
    line.replace("203.0.113.7", "localhost"),
    line.replace("203.0.113.7", "999.0.0.1"),
    line.replace("31/Jan", "99/Jan"),
    line.replace("Jan", "Xxx"),
    line.replace("+0100", "*0100"),
    line.replace("2026", "1026"),
    line.replace(" 200 ", " abc "),
    line.replace(time, "[]"),
    "\u0000".repeat(200),
    "\u001b[2J\u001b]0;x\u0007",
    "\u00ff\u00fe\u00c3\u0028",
  ])("can not read %j, and does not fail", (bad) => {
    expect(parsed(combined, [bad])).toEqual([undefined]);
  });

  it("takes what stands behind the user agent for nothing, unless told that the client stands there", () => {
    const longer = `${line} "198.51.100.1, 198.51.100.2"`;
    expect(one(combined, longer).ip).toBe("203.0.113.7");
    const clientOf = (_: string, header: (name: string) => string | undefined) =>
      header("x-forwarded-for") ?? "";
    expect(one(combined, longer, { clientOf }).ip).toBe("198.51.100.1, 198.51.100.2");
  });
});

describe("a common log", () => {
  it("tells the same without referer and user agent", () => {
    const line = `203.0.113.7 - eva ${time} "POST /login HTTP/1.0" 401 -`;
    const request = one(common, line);
    expect(request).toMatchObject({
      at,
      method: "POST",
      path: "/login",
      account: "eva",
      outcome: { status: 401 },
    });
    expect(request.userAgent).toBeUndefined();
  });
});

describe("a template", () => {
  const format = template('$http_x_id|$client [$msec] "$request" $status $request_time $cookie_session');

  it("says what stands where, in nginx's names", () => {
    const request = one(format, `7|203.0.113.7:5000 [${at / 1000 + 0.25}] "GET /a HTTP/2.0" 204 0.250 s1`);
    expect(request).toMatchObject({
      at,
      tookMs: 250,
      ip: "203.0.113.7",
      path: "/a",
      outcome: { status: 204 },
    });
    expect(request.header("X-Id")).toBe("7");
    expect(request.header("cookie")).toBe("session=s1");
  });

  it("fills user, customer and account where they are named", () => {
    const own = template("$time_iso8601 $remote_addr $customer $user $request_method $request_uri");
    expect(one(own, "2026-01-31T12:00:05+00:00 203.0.113.7 42 eva PUT /x")).toMatchObject({
      at,
      customer: "42",
      user: "eva",
      method: "PUT",
    });
  });

  it("gives up on a line that goes otherwise", () => {
    expect(parsed(format, ["", "x", "7|203.0.113.7 nothing", '7|203.0.113.7 [1] "GET'])).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each([
    ["$remote_addr$request [$time_local]", "Nothing stands between"],
    ["$remote_addr $request", "none of $time_local"],
    ["[$time_local] $request", "none of $remote_addr"],
    ["$remote_addr [$time_local]", "none of $request"],
    ["", "none of"],
  ])("%j is refused with the reason", (text, words) => {
    expect(() => template(text)).toThrow(words);
  });
});

describe("JSON of nginx", () => {
  it("tells the same by nginx's names, and begins a request where it began", () => {
    const facts = {
      msec: "1769860806.500",
      request_time: "1.500",
      remote_addr: "203.0.113.7",
      remote_user: "",
      request: 'GET /a"b HTTP/1.1',
      status: "200",
      host: "shop.example",
      http_user_agent: 'x"\\',
      http_x_api_key: "k",
    };
    const request = one(nginxJson, JSON.stringify(facts));
    expect(request).toMatchObject({
      at,
      host: "shop.example",
      path: '/a"b',
      userAgent: 'x"\\',
      account: undefined,
    });
    expect(request.header("x-api-key")).toBe("k");
  });

  it("knows other names for the same", () => {
    const facts = {
      "@timestamp": "2026-01-31T12:00:05Z",
      client_ip: "203.0.113.7",
      method: "GET",
      url: "/a",
      agent: "x",
    };
    expect(one(nginxJson, JSON.stringify(facts))).toMatchObject({ at, path: "/a", userAgent: "x" });
    expect(one(nginxJson, JSON.stringify({ ...facts, "@timestamp": at })).at).toBe(at);
  });

  it.each([
    "{}",
    "[]",
    "null",
    "1",
    '"x"',
    '{"a":',
    '{"remote_addr":{}}',
    '{"__proto__":{"remote_addr":"x"}}',
    "[".repeat(5000),
  ])("can not read %j, and does not fail", (bad) => {
    expect(parsed(nginxJson, [bad])).toEqual([undefined]);
  });
});

describe("JSON of Caddy", () => {
  const entry = {
    level: "info",
    ts: at / 1000 + 0.5,
    logger: "http.log.access",
    msg: "handled request",
    request: {
      remote_ip: "10.0.0.1",
      client_ip: "203.0.113.7",
      method: "GET",
      host: "shop.example",
      uri: "/a?b",
      headers: { "User-Agent": ["curl/8"], Cookie: ["REDACTED"], Referer: ["https://x.example/"] },
    },
    user_id: "",
    duration: 0.5,
    status: 200,
  };

  it("tells the client as Caddy resolved it", () => {
    const request = one(caddy, JSON.stringify(entry));
    expect(request).toMatchObject({
      at,
      tookMs: 500,
      ip: "203.0.113.7",
      host: "shop.example",
      path: "/a?b",
      userAgent: "curl/8",
    });
    expect(request.header("cookie")).toBeUndefined();
  });

  it("skips Caddy's other events", () => {
    expect(parsed(caddy, ['{"level":"info","ts":1,"msg":"serving"}', "{}"])).toEqual(["skipped", undefined]);
  });
});

describe("an ALB log", () => {
  const line =
    'h2 2026-01-31T12:00:06.186641Z app/lb/50dc6c495c0c9188 203.0.113.7:2817 10.0.1.252:80 0.000 0.002 0.000 200 200 5 257 "GET https://shop.example:443/a?b HTTP/2.0" "curl/7.46.0" ECDHE TLSv1.2 arn:aws:x "Root=1-58" "shop.example" "arn:cert" 1 2026-01-31T12:00:05.000000Z "forward" "-" "-" "10.0.1.252:80" "200" "-" "-"';

  it("tells the request when it came in", () => {
    expect(one(alb, line)).toMatchObject({
      at,
      ip: "203.0.113.7",
      host: "shop.example:443",
      path: "/a?b",
      userAgent: "curl/7.46.0",
    });
  });

  it("has older and shorter lines, and IPv6", () => {
    const older = line.slice(0, line.indexOf(" ECDHE")).replace("203.0.113.7", "[2001:db8::1]");
    expect(one(alb, older)).toMatchObject({ at: at + 1186.641, ip: "2001:db8::1" });
    expect(parsed(alb, [line.slice(0, 100)])).toEqual([undefined]);
  });
});

describe("a W3C log", () => {
  it("goes by its own head, as CloudFront writes it", () => {
    const fields =
      "date time c-ip cs-method cs(Host) cs-uri-stem sc-status cs(User-Agent) cs-uri-query x-host-header";
    const [version, head, request] = parsed(w3c, [
      "#Version: 1.0",
      `#Fields: ${fields}`,
      "2026-01-31\t12:00:05\t203.0.113.7\tGET\td1.cloudfront.net\t/a\t200\tMozilla/5.0%20(X11)\tq=1\tshop.example",
    ]);
    expect([version, head]).toEqual(["skipped", "skipped"]);
    expect(request).toMatchObject({
      at,
      host: "shop.example",
      path: "/a?q=1",
      userAgent: "Mozilla/5.0 (X11)",
    });
  });

  it("can not read lines before their head", () => {
    expect(parsed(w3c, ["2026-01-31\t12:00:05\t203.0.113.7\tGET"])).toEqual([undefined]);
  });
});

describe("our own decision log", () => {
  const entry = {
    at: "2026-01-31T12:00:05.000Z",
    kind: "decision",
    allowed: true,
    address: "ab".repeat(32),
    method: "GET",
    path: "/x",
  };

  it("has one client for one digest", () => {
    const request = one(decisionLog, JSON.stringify(entry));
    expect(request).toMatchObject({ at, ip: "fdab:abab:abab:abab::1", path: "/x" });
    expect(one(decisionLog, JSON.stringify({ ...entry, address: "cd".repeat(32) })).ip).not.toBe(request.ip);
    expect(parsed(decisionLog, [JSON.stringify({ ...entry, address: "no digest" })])).toEqual([undefined]);
  });

  it("skips what control did", () => {
    expect(
      parsed(decisionLog, ['{"at":"2026-01-31T12:00:05.000Z","kind":"control","event":"held"}']),
    ).toEqual(["skipped"]);
  });
});

describe("a log's format", () => {
  const line = `203.0.113.7 - - ${time} "GET / HTTP/1.1" 200 12`;

  it.each([
    ["common", line],
    ["combined", `${line} "-" "x"`],
    ["json", '{"time":"2026-01-31T12:00:05Z","remote_addr":"203.0.113.7","request":"GET / HTTP/1.1"}'],
    ["caddy", '{"ts":1769860805.1,"request":{"remote_ip":"203.0.113.7","method":"GET","uri":"/"}}'],
    ["decision-log", '{"at":"2026-01-31T12:00:05.000Z","kind":"decision","path":"/"}'],
    ["w3c", "#Version: 1.0\n#Fields: date time c-ip"],
    [
      "alb",
      'http 2026-01-31T12:00:05.1Z app/lb/1 203.0.113.7:1 - -1 -1 -1 400 - 0 0 "GET http://h:80/ HTTP/1.1" "-" - -',
    ],
  ])("%s is found out by the first lines", (name, text) => {
    expect(detectFormat(`\nnonsense\n${text}\n`)?.name).toBe(name);
  });

  it("of nonsense is none", () => {
    expect(detectFormat("nonsense\n\u0000\n")).toBeUndefined();
  });
});
