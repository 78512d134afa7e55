import { createGate } from "../../index.js";
import type { Subject } from "../../subject.js";
import { loosest, type Stage, type Vitest } from "./stage.js";

/** What the gate hears of a request. */
export function whatIsAskedFor({ expect, it }: Vitest, { serving, still, ignoresCase }: Stage): void {
  it("is told to the gate as it was sent", async () => {
    const gate = createGate(loosest);
    const subjects: Subject[] = [];
    gate.on("decision", ({ subject }) => subjects.push(subject));
    const { get } = await serving({ gate });
    await get({ method: "POST", target: "/a/b?c=d", headers: { host: "shop.example:81", "x-one": "1" } });
    await get({ target: "http://shop.example/x" });
    const [first, second] = subjects as [Subject, Subject];
    const { method, host, user, customer, account } = first;
    expect({ method, host }).toEqual({ method: "POST", host: "shop.example:81" });
    expect([user, customer, account]).toEqual([undefined, undefined, undefined]);
    expect([first.path, second.path]).toEqual(["/a/b?c=d", "/x"]);
    expect([first.header("X-One"), first.header("constructor")]).toEqual(["1", undefined]);
  });

  it.each([
    "/login",
    "/login/",
    "/login?next=/",
    "/login/x",
    "//login",
    "/./x/../login",
    "/%6Cogin",
    "/login#there",
    "http://elsewhere.example/login",
    "http://elsewhere.example/login?x",
  ])("finds the rule for /login when asked for %s", async (target) => {
    const { get } = await serving(
      still({ rules: [{ name: "login", only: "/login", by: "ip", limits: ["0 per minute"] }] }),
    );
    expect((await get({ target })).status).toBe(429);
  });

  it.each(["/", "/loginx", "/x/login", "/?/login"])("leaves %s alone", async (target) => {
    const { get } = await serving(
      still({ rules: [{ name: "login", only: "/login", by: "ip", limits: ["0 per minute"] }] }),
    );
    expect((await get({ target })).status).toBe(200);
  });

  it(`takes /LOGIN for ${ignoresCase ? "/login, as its router does" : "another path"}`, async () => {
    const { get } = await serving(
      still({ rules: [{ name: "login", only: "/login", by: "ip", limits: ["0 per minute"] }] }),
    );
    expect((await get({ target: "/LOGIN" })).status).toBe(ignoresCase ? 429 : 200);
  });
}
