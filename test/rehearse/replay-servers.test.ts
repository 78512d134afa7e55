import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { LoggedRequest } from "../../packages/tidegate-server/src/rehearse/logged-request.js";
import { readLogs } from "../../packages/tidegate-server/src/rehearse/read-logs.js";
import { eventually, temporaryFolder } from "../server/running.js";
import { startCaddy, startNginx } from "../servers/index.js";

const hostile = [
  'plain "quoted" \\ back\\slash\\',
  '"; DROP \\x22 \\u0022 ] "GET /evil HTTP/1.1" 200 1 "-" "-',
  "tab\tand \u00e4\u00f6\u00fc bytes \u00ff",
  "\u00c3\u00a4 is UTF-8",
  '\' {"remote_addr":"10.0.0.1"} </script>',
];
const users = ["eva", 'x [01/Jan/2030] "GET / HTTP/1.1" ] ', "a b"];

/** One request, byte for byte; every character is one. */
function send(port: number, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(Buffer.from(text, "latin1")));
    socket.on("error", reject).on("close", () => resolve());
    socket.resume();
  });
}

function request(path: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ Host: "shop.example", Connection: "close", ...headers });
  return `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}

/** All that strangers may send, told apart by path. */
async function visit(port: number): Promise<void> {
  for (const [i, agent] of hostile.entries())
    await send(
      port,
      request(`/agent/${i}?q="x\\y`, { "User-Agent": agent, Referer: `https://x.example/"${i}` }),
    );
  for (const [i, user] of users.entries()) {
    const pair = Buffer.from(`${user}:secret`, "latin1").toString("base64");
    await send(port, request(`/user/${i}`, { Authorization: `Basic ${pair}` }));
  }
  await send(port, request("/last", { "User-Agent": "curl/8" }));
}

async function read(file: string, format: string): Promise<{ requests: LoggedRequest[]; malformed: number }> {
  // Servers write a line when an answer is through.
  await eventually(() => readFileSync(file, "utf8").includes("/last") || undefined);
  const requests: LoggedRequest[] = [];
  const { input } = await readLogs({ logs: [file], cwd: "/" }, (each) => void requests.push(each));
  expect(input.files[0]?.format).toBe(format);
  return { requests: requests.filter(({ path }) => path !== "/_ready"), malformed: input.malformed };
}

function expectAll(requests: readonly LoggedRequest[], begun: number): void {
  const of = (path: string) => requests.find((each) => each.path === path) as LoggedRequest;
  for (const [i, agent] of hostile.entries()) {
    expect(of(`/agent/${i}?q="x\\y`)).toMatchObject({ ip: "127.0.0.1", method: "GET", userAgent: agent });
    expect(of(`/agent/${i}?q="x\\y`).header("referer")).toBe(`https://x.example/"${i}`);
  }
  expect(requests).toHaveLength(hostile.length + users.length + 1);
  for (const { at, outcome } of requests) {
    expect(at).toBeGreaterThan(begun - 2000);
    expect(at).toBeLessThan(Date.now() + 2000);
    expect(outcome).toEqual({ status: 200 });
  }
}

it("what real nginx logs, combined and as JSON, reads back as it was sent, whatever a stranger wrote", async () => {
  const folder = temporaryFolder();
  const begun = Date.now();
  const nginx = await startNginx({
    http: ({ port }) => `log_format as_json escape=json '{"msec":"$msec","remote_addr":"$remote_addr",'
  '"remote_user":"$remote_user","request_method":"$request_method","request_uri":"$request_uri","host":"$host","status":"$status",'
  '"request_time":"$request_time","http_user_agent":"$http_user_agent","http_referer":"$http_referer"}';
log_format common '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent';
server {
  listen 127.0.0.1:${port};
  access_log ${folder}/combined.log combined;
  access_log ${folder}/common.log common;
  access_log ${folder}/json.log as_json;
  location / { return 200 ok; }
}`,
  });
  onTestFinished(() => nginx.stop());
  await visit(nginx.port);

  const combined = await read(join(folder, "combined.log"), "combined");
  expect(combined.malformed).toBe(0);
  expectAll(combined.requests, begun);
  const accounts = combined.requests
    .filter(({ path }) => path.startsWith("/user/"))
    .map(({ account }) => account);
  expect(accounts).toEqual(users);

  const json = await read(join(folder, "json.log"), "json");
  expect(json.malformed).toBe(0);
  expectAll(json.requests, begun);
  expect(json.requests.every(({ host }) => host === "shop.example")).toBe(true);

  const common = await read(join(folder, "common.log"), "common");
  expect(common.requests).toHaveLength(combined.requests.length);
});

it("what is no HTTP at all is in nginx's log, and is skipped", async () => {
  const folder = temporaryFolder();
  const nginx = await startNginx({
    http: ({ port }) =>
      `server { listen 127.0.0.1:${port}; access_log ${folder}/a.log combined; location / { return 200 ok; } }`,
  });
  onTestFinished(() => nginx.stop());
  await send(nginx.port, "\x16\x03\x01\x02\x00\x01\xfc\r\n\r\n");
  await send(nginx.port, request("/last", {}));
  const { requests, malformed } = await read(join(folder, "a.log"), "combined");
  expect({ paths: requests.map(({ path }) => path), malformed }).toEqual({ paths: ["/last"], malformed: 0 });
});

it("what real Caddy logs reads back as it was sent; bytes that are no UTF-8, which it writes otherwise, cost no request", async () => {
  const folder = temporaryFolder();
  const begun = Date.now();
  const caddy = await startCaddy({
    sites: ({ port }) => `http://:${port} {
	log {
		output file ${folder}/caddy.log
	}
	respond ok 200
}
`,
  });
  onTestFinished(() => caddy.stop());
  for (const [i, agent] of hostile.entries())
    await send(caddy.port, request(`/agent/${i}`, { "User-Agent": agent, Referer: 'https://x.example/"' }));
  await send(caddy.port, request("/last", { "User-Agent": "curl/8" }));
  const { requests, malformed } = await read(join(folder, "caddy.log"), "caddy");
  expect(malformed).toBe(0);
  expect(requests).toHaveLength(hostile.length + 1);
  for (const [i, agent] of [...hostile, "curl/8"].entries())
    if (isUtf8(Buffer.from(agent, "latin1"))) expect(requests[i]?.userAgent).toBe(agent);
  for (const { ip, host, at, outcome } of requests) {
    expect({ ip, host, outcome }).toEqual({
      ip: "127.0.0.1",
      host: "shop.example",
      outcome: { status: 200 },
    });
    expect(at).toBeGreaterThan(begun - 2000);
  }
});
