import { describe, expect, it, onTestFinished } from "vitest";
import { startRedis } from "../servers/index.js";
import { adminRig, type Ran, tidegate } from "./cli-rig.js";
import { configFile, eventually, startTidegate, temporaryFolder } from "./running.js";

const tokenOf = ({ code, stdout, stderr }: Ran): string => {
  expect([code, stderr]).toEqual([0, expect.stringContaining("shown this once")]);
  expect(stdout).toMatch(/^tg_[\w-]{43}\n$/);
  return stdout.trim();
};

describe("tidegate token", () => {
  it("makes tokens that may what their role may, and no more", async () => {
    const rig = await adminRig();
    const ann = {
      env: { TIDEGATE_TOKEN: tokenOf(await rig.tidegate("token create --role admin --name ann")) },
    };
    const made = await rig.tidegate("token create --role operator --name eva --for 30d", ann);
    expect(made.stderr).toContain("eva is operator; it ends in 30 days");
    const eva = { env: { TIDEGATE_TOKEN: tokenOf(made) } };
    const bob = {
      env: { TIDEGATE_TOKEN: tokenOf(await rig.tidegate("token create --role viewer --name bob", ann)) },
    };
    const line = "list add blocklist 203.0.113.7";
    expect((await rig.tidegate("list show", bob)).code).toBe(0);
    expect(await rig.tidegate(line, bob)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("takes the role operator, and yours is viewer"),
    });
    expect((await rig.tidegate(line, eva)).code).toBe(0);
    for (const each of ["policy rollback --yes", "token list", "token login-url"])
      expect(await rig.tidegate(each, eva)).toMatchObject({
        code: 4,
        stderr: expect.stringContaining("takes the role admin, and yours is operator"),
      });
    expect(await rig.tidegate("list show")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("or to a token made for you"),
    });
    expect((await rig.tidegate("audit", ann)).stdout).toMatch(/token:eva +blocklist\.add/);
  });

  it("lists and revokes them, asking first", async () => {
    const rig = await adminRig();
    expect((await rig.tidegate("token list")).stdout).toBe("Nobody made a token yet.\n");
    const ann = {
      env: { TIDEGATE_TOKEN: tokenOf(await rig.tidegate("token create --role admin --name ann")) },
    };
    const secret = tokenOf(await rig.tidegate("token create --role viewer --name eva", ann));
    const { stdout } = await rig.tidegate("token list", ann);
    expect(stdout).toMatch(
      /^NAME +ROLE +ID +MADE +BY +USED +ENDS\nann +admin +[0-9a-f]{12} .* cli:eva .*\neva +viewer /,
    );
    expect(stdout).not.toContain(secret);
    const listed = JSON.parse((await rig.tidegate("token list --json", ann)).stdout);
    expect(listed).toMatchObject([
      {
        name: "ann",
        createdAt: expect.stringMatching(/Z$/),
        lastUsedAt: expect.stringMatching(/:00\.000Z$/),
      },
      { name: "eva", createdBy: "token:ann" },
    ]);
    expect(await rig.tidegate("token revoke eva", ann)).toMatchObject({ code: 2 });
    expect(await rig.tidegate("token revoke eva", { ...ann, says: "n" })).toMatchObject({ code: 1 });
    expect(await rig.tidegate("token revoke eva", { ...ann, says: "y" })).toMatchObject({
      code: 0,
      stdout: "eva (viewer) is revoked.\n",
    });
    expect((await rig.tidegate("list show", { env: { TIDEGATE_TOKEN: secret } })).code).toBe(4);
    expect(await rig.tidegate("token revoke eva --yes", ann)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("tidegate token list"),
    });
    const id = listed[0].id;
    expect(JSON.parse((await rig.tidegate(`token revoke ${id} --yes --json`, ann)).stdout)).toMatchObject({
      id,
    });
  });

  it("says what is wrong with a role, a name or a duration", async () => {
    const rig = await adminRig({ token: "hush-hush" });
    const env = { env: { TIDEGATE_TOKEN: "hush-hush" } };
    for (const line of [
      "token create --name eva",
      "token create --role viewer",
      "token create --role root --name eva",
      "token create --role viewer --name 42",
      "token create --role viewer --name eva --for ever",
    ])
      expect([line, (await rig.tidegate(line, env)).code]).toEqual([line, 2]);
    expect((await rig.tidegate("token create --role viewer --name eva", env)).code).toBe(0);
    expect(await rig.tidegate("token create --role viewer --name eva", env)).toMatchObject({ code: 4 });
  });

  it("refuses a first one that would leave nobody to make others", async () => {
    const rig = await adminRig();
    expect(await rig.tidegate("token create --role operator --name eva")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("role admin first"),
    });
    expect((await rig.tidegate("list show")).code).toBe(0);
  });

  it("prints an address that logs a browser in, once", async () => {
    const rig = await adminRig();
    const { code, stdout } = await rig.tidegate("token login-url");
    expect(code).toBe(0);
    const [url = "", login = ""] = stdout.trim().split("/#login=");
    expect(url).toBe(rig.url);
    const body = JSON.stringify({ code: login });
    const statuses = [];
    for (let i = 0; i < 2; i++) {
      const answer = await fetch(`${url}/v1/login`, { method: "POST", body, headers: { origin: url } });
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([200, 401]);
    expect(JSON.parse((await rig.tidegate("token login-url --json")).stdout)).toMatchObject({
      url: expect.stringContaining("/#login="),
      until: expect.stringMatching(/Z$/),
    });
  });
});

describe("a first start", () => {
  const loginOf = (output: string): string | undefined => /(http:\S+\/#login=[\w-]+)/.exec(output)?.[1];

  it("prints an address to log in with, in the welcome and not in the log; once somebody has a token, no more", async () => {
    const folder = temporaryFolder();
    const running = await startTidegate({ folder });
    const url = await eventually(() => loginOf(running.output()));
    await eventually(() => running.output().includes("log in ") || undefined);
    expect(JSON.stringify(running.lines())).not.toContain("#login");
    expect(running.lines().some(({ msg }) => String(msg).includes("token login-url"))).toBe(true);
    const [base = "", code] = url.split("/#login=");
    expect(base).toBe(running.admin);
    const answer = await fetch(`${base}/v1/login`, { method: "POST", body: JSON.stringify({ code }) });
    expect(await answer.json()).toMatchObject({ role: "admin", name: null });
    const cookie = answer.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
    const made = await tidegate(["token", "create", "--role", "admin", "--name", "ann", "--url", base]);
    const env = { TIDEGATE_TOKEN: tokenOf(made) };
    await running.stop();
    const next = await startTidegate({ folder });
    await eventually(() => next.output().includes("Ctrl-C") || undefined);
    expect(loginOf(next.output())).toBeUndefined();
    expect((await tidegate(["token", "list", "--url", next.admin], { env })).stdout).toContain("ann");
    expect((await fetch(`${next.admin}/v1/session`, { headers: { cookie } })).status).toBe(200);
    expect((await fetch(`${next.admin}/v1/session`)).status).toBe(401);
  });

  it("with admin.token prints none", async () => {
    const folder = temporaryFolder();
    configFile(
      folder,
      "admin: { token: 0123456789abcdef }\nupstreams: [{ url: http://127.0.0.1:9 }]\npolicy: { rules: [] }\n",
    );
    const running = await startTidegate({ folder });
    await running.stop();
    expect(loginOf(running.output())).toBeUndefined();
  });
});

describe("straight on Redis", () => {
  it("tokens and codes are made that a running server heeds", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const folder = temporaryFolder();
    const running = await startTidegate({ folder, args: ["--redis", redis.url] });
    const straight = (line: string) => tidegate(line.split(" "), { env: { TIDEGATE_REDIS: redis.url } });
    const secret = tokenOf(await straight("token create --role admin --name ann"));
    const headers = { authorization: `Bearer ${secret}` };
    expect(await (await fetch(`${running.admin}/v1/session`, { headers })).json()).toMatchObject({
      name: "ann",
    });
    await eventually(async () => (await fetch(`${running.admin}/v1/session`)).status === 401 || undefined);
    const code = (await straight("token login-url")).stdout.trim().split("#login=")[1];
    const answer = await fetch(`${running.admin}/v1/login`, {
      method: "POST",
      body: JSON.stringify({ code }),
    });
    expect(answer.status).toBe(200);
    expect((await straight("token revoke ann --yes")).code).toBe(0);
    await eventually(
      async () => (await fetch(`${running.admin}/v1/session`, { headers })).status === 401 || undefined,
    );
  });
});
