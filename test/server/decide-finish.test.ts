import { concurrency } from "tidegate";
import { afterEach, describe, expect, it } from "vitest";
import { ask, openRig, type Rig, type Said } from "./decide-rig.js";

let rig: Rig;
afterEach(() => rig?.close());

const rules = [
  { name: "login", only: "/login", by: "ip", limits: "1 per 1h", count: "failures" },
  { name: "slots", only: "/slots", by: "ip", limits: [concurrency({ limit: 1, leaseFor: "1h" })] },
  { name: "all", by: "ip", limits: "100 per 1h" },
] as const;

const canFinish = { decide: { canFinish: true } };
const decide = async (path: string): Promise<Said> =>
  (await ask(`${rig.url}/v1/decide`, { body: { subject: { ip: "203.0.113.7", path } } })).json;
const finish = (body: unknown) => ask(`${rig.url}/v1/finish`, { body });

describe("POST /v1/finish", () => {
  it("what does not count is given back, once, however often it is said", async () => {
    rig = await openRig({ rules, settings: canFinish });
    const first = await decide("/login");
    expect(first.finish).toBe(first.id);
    expect((await decide("/login")).allowed).toBe(false);
    for (let i = 0; i < 3; i++)
      expect(await finish({ id: first.finish, status: 200 })).toMatchObject({
        status: 200,
        json: { finished: 1, unknown: [] },
      });
    const second = await decide("/login");
    expect(second.allowed).toBe(true);
    expect((await finish({ id: first.finish, status: 200 })).status).toBe(200);
    expect((await decide("/login")).allowed).toBe(false);
    await finish({ id: second.finish, status: 401 });
    expect((await decide("/login")).allowed).toBe(false);
  });

  it("no answer counts, and leases are free", async () => {
    rig = await openRig({ rules, settings: canFinish });
    await finish({ id: (await decide("/login")).finish });
    expect((await decide("/login")).allowed).toBe(false);
    const slot = await decide("/slots");
    expect((await decide("/slots")).allowed).toBe(false);
    await finish({ id: slot.finish, status: null });
    expect((await decide("/slots")).allowed).toBe(true);
  });

  it("only what has an end to hear of asks for it", async () => {
    rig = await openRig({ rules, settings: canFinish });
    expect((await decide("/other")).finish).toBeUndefined();
    await decide("/login");
    expect((await decide("/login")).finish).toBeUndefined();
  });

  it("many at once, and what is not known is named", async () => {
    rig = await openRig({ rules, settings: canFinish });
    const { finish: id } = await decide("/login");
    const many = await finish({ decisions: [{ id, status: 200 }, { id: "nobody-1" }] });
    expect(many).toMatchObject({ status: 200, json: { finished: 1, unknown: ["nobody-1"] } });
  });

  it("an unknown id is 404, as is every id where callers do not finish", async () => {
    rig = await openRig({ rules, settings: canFinish });
    expect(await finish({ id: "nobody-1", status: 200 })).toMatchObject({
      status: 404,
      json: { code: "TG_DECISION_UNKNOWN" },
    });
    await rig.close();
    rig = await openRig();
    expect((await finish({ id: "nobody-1", status: 200 })).status).toBe(404);
  });

  it("what is no end of a request is 400", async () => {
    rig = await openRig({ rules, settings: canFinish });
    for (const body of [
      {},
      [],
      null,
      3,
      { id: 5 },
      { id: "" },
      { id: "a", status: "200" },
      { id: "a", status: 99 },
      { id: "a", status: 200.5 },
      { decisions: 3 },
      { decisions: [null] },
      { decisions: Array(1001).fill({ id: "a" }) },
    ])
      expect(await finish(body), JSON.stringify(body).slice(0, 60)).toMatchObject({
        status: 400,
        json: { code: "TG_QUESTION" },
      });
  });
});
