import { request as httpRequest, type RequestListener } from "node:http";
import { connect } from "node:net";
import { loginRules, type RuleOptions, type Subject } from "tidegate";
import { afterEach, describe, expect, it } from "vitest";
import { accountIn } from "../../packages/tidegate-server/src/proxy/account-in.js";
import { closeAll, echo, eventually, heard, openRig, openUpstream, type Rig, raw } from "./proxy-rig.js";

afterEach(closeAll);

const byAccount: RuleOptions = { name: "account", by: "account", limits: ["1000 per 1h"] };
const form = "application/x-www-form-urlencoded";
const field = { identify: { account: { field: "email" } } };

interface Watched extends Rig {
  /** The account of each request, as the gate was told it. */
  readonly accounts: (string | undefined)[];
}

async function open(settings: object = field, rules: RuleOptions[] = [byAccount]): Promise<Watched> {
  const app = await openUpstream(echo);
  const rig = await openRig({ upstreams: [{ urls: [app.url] }], gate: { rules }, settings });
  const accounts: (string | undefined)[] = [];
  rig.gate.on("decision", ({ subject }: { subject: Subject }) => accounts.push(subject.account));
  return Object.assign(rig, { accounts });
}

async function post(url: string, type: string, body: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(url, { method: "POST", headers: { "Content-Type": type }, body, ...init });
  return ((await response.json()) as { body: string }).body;
}

describe("the account a login claims", () => {
  it("is found in forms and JSON, and the body reaches the app byte for byte", async () => {
    const { url, accounts } = await open();
    const bodies: [string, string][] = [
      [form, "email=ann%40example.com&password=a+b%00"],
      [`${form}; charset=UTF-8`, "password=x&e%6Dail=bob"],
      ["Application/JSON", '{ "password": "x",  "email": "cy@example.com" }\n'],
      ["application/vnd.api+json", '{"email":42}'],
    ];
    for (const [type, body] of bodies) expect(await post(url, type, body)).toBe(body);
    expect(accounts).toEqual(["ann@example.com", "bob", "cy@example.com", "42"]);
  });

  it("is found in the largest body that is looked at, and not in a larger one; both arrive whole", async () => {
    const { url, accounts } = await open();
    for (const size of [16_384, 16_385]) {
      const body = "email=ann&x=".padEnd(size, "y");
      expect(await post(url, form, body)).toBe(body);
    }
    expect(accounts).toEqual(["ann", undefined]);
  });

  it("is found when the body comes in pieces after its head", async () => {
    const { port, accounts } = await open();
    const socket = connect(port, "127.0.0.1");
    const answer = heard(socket, /"body":"[^"]*"/);
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${form}\r\nContent-Length: 12\r\n\r\n`;
    for (const piece of [head, "ema", "il=ann&x", "="]) {
      socket.write(piece);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await answer).toContain('"body":"email=ann&x="');
    socket.destroy();
    expect(accounts).toEqual(["ann"]);
  });

  it("is counted in one spelling, however its case and blanks vary", async () => {
    const { url } = await open(field, [{ name: "account", by: "account", limits: ["1 per 1h"] }]);
    const statusOf = async (email: string): Promise<number> =>
      (await fetch(url, { method: "POST", body: new URLSearchParams({ email }) })).status;
    expect(await statusOf("ann@example.com")).toBe(200);
    for (const other of ["Ann@Example.com", " ann@example.com ", "ａnn@example.com"])
      expect(await statusOf(other), other).toBe(429);
    expect(await statusOf("bob@example.com")).toBe(200);
  });

  it("may stand in a header of anybody's, which goes on to the app", async () => {
    const { url, accounts } = await open({ identify: { account: "x-login-name" } });
    const response = await fetch(url, { headers: { "X-Login-Name": "ann" } });
    expect(((await response.json()) as { headers: object }).headers).toMatchObject({ "x-login-name": "ann" });
    expect(accounts).toEqual(["ann"]);
  });

  it("stands in that header once, and as it is named, where a rule counts by it", async () => {
    const { port } = await open({ identify: { account: "x-login-name" } });
    const ask = (lines: string): Promise<string> =>
      raw(port, `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}\r\n`);
    expect(await ask("X-Login-Name: ann\r\n")).toMatch(/^HTTP\/1\.1 200 /);
    for (const lines of ["X-Login-Name: ann\r\nX-Login-Name: bob\r\n", "X_Login_Name: ann\r\n"])
      expect(await ask(lines)).toMatch(/^HTTP\/1\.1 400 [\s\S]*TG_REQUEST_REPEATED/);
  });

  it("is the name of basic auth where the body has none", async () => {
    const { url, accounts } = await open();
    await fetch(url, { headers: { Authorization: `Basic ${btoa("ann:secret")}` } });
    expect(accounts).toEqual(["ann"]);
  });

  it("stands beside the customer a trusted proxy names", async () => {
    const settings = {
      trustedProxies: ["loopback"],
      identify: { customer: "x-customer-id", account: { field: "email" } },
    };
    const { url, gate } = await open(settings);
    const seen: unknown[] = [];
    gate.on("decision", ({ subject: { account, customer } }) => seen.push({ account, customer }));
    await fetch(url, {
      method: "POST",
      headers: { "X-Customer-Id": "c1", "X-Forwarded-For": "198.51.100.1" },
      body: new URLSearchParams({ email: "ann" }),
    });
    expect(seen).toEqual([{ account: "ann", customer: "c1" }]);
  });

  it("is not looked for while no rule counts by account, and is from the moment one does", async () => {
    const { url, accounts, gate } = await open(field, []);
    await post(url, form, "email=ann");
    gate.update({ rules: [byAccount] });
    await post(url, form, "email=ann");
    expect(accounts).toEqual([undefined, "ann"]);
  });
});

describe("a body that can not be read names nobody, goes on as it comes, and is limited by the other rules", () => {
  const rules: RuleOptions[] = [byAccount, { name: "ip", by: "ip", limits: ["1 per 1h"] }];

  async function isLimited({ port }: Watched): Promise<void> {
    expect(await raw(port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 429/,
    );
  }

  it("chunked", async () => {
    const rig = await open(field, rules);
    const answer = await raw(
      rig.port,
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${form}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n9\r\nemail=ann\r\n0\r\n\r\n`,
    );
    expect(answer).toContain('"body":"email=ann"');
    expect(rig.accounts).toEqual([undefined]);
    await isLimited(rig);
  });

  it("slow: after a second the gate is asked without", async () => {
    const rig = await open(field, rules);
    const socket = connect(rig.port, "127.0.0.1");
    const answer = heard(socket, /"body":"[^"]*"/);
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${form}\r\nContent-Length: 9\r\n\r\nemail`);
    await eventually(() => rig.accounts.length === 1);
    socket.write("=ann");
    expect(await answer).toContain('"body":"email=ann"');
    socket.destroy();
    expect(rig.accounts).toEqual([undefined]);
    await isLimited(rig);
  });

  it("asked for with Expect: the client hears 100 Continue once, and is not waited for before", async () => {
    const rig = await open(field, rules);
    const req = httpRequest({
      port: rig.port,
      method: "POST",
      headers: { "Content-Type": form, "Content-Length": 9, Expect: "100-continue" },
    });
    let continues = 0;
    req.on("continue", () => {
      continues++;
      req.end("email=ann");
    });
    req.flushHeaders();
    const body = await new Promise<string>((resolve, reject) =>
      req
        .on("error", reject)
        .on("response", (res) =>
          res.toArray().then((pieces) => resolve(Buffer.concat(pieces).toString()), reject),
        ),
    );
    expect(body).toContain('"body":"email=ann"');
    expect(continues).toBe(1);
    expect(rig.accounts).toEqual([undefined]);
    await isLimited(rig);
  });

  it.each<[string, string, string]>([
    ["a lie about its type", "application/json", "email=ann"],
    [
      "a form in parts",
      "multipart/form-data; boundary=x",
      '--x\r\nContent-Disposition: form-data; name="email"\r\n\r\nann\r\n--x--',
    ],
    ["two names", form, "email=ann&email=bob"],
    ["an empty name", form, "email=&x=1"],
    ["a map for a name", "application/json", '{"email":{"toString":"x"}}'],
    ["a list", "application/json", '[{"email":"ann"}]'],
    ["deep JSON", "application/json", "[".repeat(16_000)],
    ["null", "application/json", "null"],
  ])("%s", async (_, type, body) => {
    const rig = await open(field, rules);
    expect(await post(rig.url, type, body)).toBe(body);
    expect(rig.accounts).toEqual([undefined]);
    await isLimited(rig);
  });

  it("packed", async () => {
    const rig = await open(field, rules);
    await post(rig.url, form, "email=ann", {
      headers: { "Content-Type": form, "Content-Encoding": "gzip" },
    });
    expect(rig.accounts).toEqual([undefined]);
  });
});

describe("odd bodies", () => {
  const read = (text: string | Buffer, kind: "form" | "json", name = "email") =>
    accountIn(Buffer.from(text as string), kind, name);

  it("keys of the prototype are no names unless they are written", () => {
    for (const name of ["__proto__", "constructor", "toString"]) {
      expect(read("{}", "json", name)).toBeUndefined();
      expect(read("a=1", "form", name)).toBeUndefined();
    }
    expect(read('{"__proto__":{"email":"ann"}}', "json")).toBeUndefined();
    expect(read('{"__proto__":"ann"}', "json", "__proto__")).toBe("ann");
  });

  it("bytes that are not UTF-8 do no harm, and a byte order mark hides no name", () => {
    expect(read(Buffer.from("email=\xff\xfe", "latin1"), "form")).toBe("\ufffd\ufffd");
    expect(read("email=%ff", "form")).toBe("\ufffd");
    expect(read(Buffer.from('{"email":"\xff"}', "latin1"), "json")).toBe("\ufffd");
    expect(read('\ufeff{"email":"ann"}', "json")).toBe("ann");
  });

  it("one name said twice is one name", () => {
    expect(read("email=ann&email=ann", "form")).toBe("ann");
  });
});

describe("connections", () => {
  it("a client that leaves in the middle of its body is forgotten", async () => {
    const rig = await open();
    const socket = connect(rig.port, "127.0.0.1");
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${form}\r\nContent-Length: 90\r\n\r\nemail`);
    await eventually(async () => (await connections(rig)) === 1);
    socket.destroy();
    await eventually(async () => (await connections(rig)) === 0);
    expect(await post(rig.url, form, "email=ann")).toBe("email=ann");
  });

  it.each([9, 16_384])(
    "one whose request with %d bytes is refused may ask again on the same one",
    async (size) => {
      const rig = await open(field, [{ name: "account", by: "account", limits: ["1 per 1h"] }]);
      const body = "email=ann".padEnd(size, "&");
      const ask = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${form}\r\nContent-Length: ${size}\r\n\r\n${body}`;
      const socket = connect(rig.port, "127.0.0.1");
      const statuses = [];
      for (const next of [ask, ask, ask, "GET /last HTTP/1.1\r\nHost: a\r\n\r\n"]) {
        const answer = heard(socket, /\}$/);
        const [head = "", rest = ""] = next.split(/(?<=\r\n\r\n)/);
        socket.write(head);
        await new Promise((resolve) => setTimeout(resolve, 20));
        socket.write(rest);
        statuses.push((await answer).slice(9, 12));
      }
      socket.destroy();
      expect(statuses).toEqual(["200", "429", "429", "200"]);
    },
  );

  it("one whose slow request was refused may send the rest and ask again", async () => {
    const rig = await open(field, [
      { name: "ip", by: ["ip", "account"], only: "/login", limits: ["0 per 1h"] },
    ]);
    const socket = connect(rig.port, "127.0.0.1");
    socket.write(
      `POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: ${form}\r\nContent-Length: 9\r\n\r\nemail`,
    );
    await heard(socket, /HTTP\/1\.1 429[\s\S]*\}/);
    const next = heard(socket, /"url":"\/next"/);
    socket.write("=annGET /next HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await next).toMatch(/^HTTP\/1\.1 200/m);
    socket.destroy();
  });
});

function connections({ server }: Rig): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

describe("a login behind the proxy", () => {
  const app: RequestListener = (req, res) => {
    const pieces: Buffer[] = [];
    req.on("data", (piece: Buffer) => pieces.push(piece));
    req.on("end", () => {
      const sent = new URLSearchParams(Buffer.concat(pieces).toString());
      res.writeHead(sent.get("password") === "right" ? 200 : 401).end();
    });
  };

  async function openLogin(options = {}) {
    const upstream = await openUpstream(app);
    const rig = await openRig({
      upstreams: [{ urls: [upstream.url] }],
      gate: { rules: loginRules({ only: "POST /login", ...options }) },
      settings: { ...field, trustedProxies: ["loopback"] },
    });
    return async (from: string, email: string, password = "wrong"): Promise<number> => {
      const response = await fetch(`${rig.url}/login`, {
        method: "POST",
        headers: { "X-Forwarded-For": from },
        body: new URLSearchParams({ email, password }),
      });
      await response.arrayBuffer();
      return response.status;
    };
  }

  it("protects one account that is attacked from many addresses, and not its owner's address", async () => {
    const login = await openLogin({ account: ["10 per 1h"] });
    expect(await login("203.0.113.1", "ann", "right")).toBe(200);
    const guesses = [];
    for (let i = 1; i <= 14; i++) guesses.push(await login(`198.51.100.${i}`, i % 2 ? "ann" : " ANN"));
    expect(guesses).toEqual([...Array(10).fill(401), ...Array(4).fill(429)]);
    expect(await login("198.51.100.99", "ann", "right")).toBe(429);
    expect(await login("203.0.113.1", "ann", "right")).toBe(200);
    expect(await login("198.51.100.99", "bob", "right")).toBe(200);
  });

  it("does not lock out neighbours with other accounts behind one address", async () => {
    const login = await openLogin();
    const guesses = [];
    for (let i = 0; i < 5; i++) guesses.push(await login("198.51.100.1", "ann"));
    expect(guesses).toEqual([401, 401, 401, 429, 429]);
    expect(await login("198.51.100.1", "bob", "right")).toBe(200);
    expect(await login("198.51.100.1", "cy")).toBe(401);
    expect(await login("198.51.100.2", "ann", "right")).toBe(200);
  });

  it("forgets failures of a pair that succeeds", async () => {
    const login = await openLogin({ pair: ["3 per 1h"] });
    const tries = [];
    for (const password of [
      "wrong",
      "wrong",
      "right",
      "wrong",
      "wrong",
      "right",
      "wrong",
      "wrong",
      "wrong",
      "right",
    ])
      tries.push(await login("198.51.100.1", "ann", password));
    expect(tries).toEqual([401, 401, 200, 401, 401, 200, 401, 401, 401, 429]);
  });
});
