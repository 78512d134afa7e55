import { describe, expect, it, onTestFinished } from "vitest";
import { type Admin, firstPolicy, startAdmin } from "./api-serving.js";
import { startEdgesAdmin } from "./edges-admin.js";

const as = (who: string) => ({ "Tidegate-Who": who });
const nextPolicy = firstPolicy.replace("3 per hour", "5 per hour");
const lastPolicy = firstPolicy.replace("3 per hour", "7 per hour");
const request = (ip: string) => ({
  ip,
  method: "GET",
  host: "example.com",
  path: "/",
  header: () => undefined,
});

async function started(options: Parameters<typeof startAdmin>[0] = {}): Promise<Admin> {
  const admin = await startAdmin(options);
  onTestFinished(() => admin.close());
  return admin;
}

/** The newest entry of the audit, as the API tells it. */
async function newest({ ask }: Pick<Admin, "ask">) {
  return (await ask("GET", "/v1/audit?most=1")).json.entries[0];
}

describe("undoing a list", () => {
  it("takes off who was added, and says so in the audit", async () => {
    const admin = await started();
    const { ask, gate } = admin;
    await ask("PUT", "/v1/lists/blocklist/203.0.113.7", { why: "flood" }, as("ann"));
    const { id, undoable } = await newest(admin);
    expect(undoable).toBe(true);
    const { status, json } = await ask("POST", `/v1/audit/${id}/undo`, { why: "a slip" }, as("bob"));
    expect(status).toBe(200);
    expect(json).toMatchObject({
      undone: id,
      entry: {
        who: "bob",
        why: "a slip",
        what: "blocklist.remove",
        target: "203.0.113.7",
        undoes: id,
        before: { who: "ann", why: "flood" },
      },
    });
    expect((await gate.decide(request("203.0.113.7"))).allowed).toBe(true);
    const { entries } = (await ask("GET", "/v1/audit?most=2")).json;
    expect(entries).toMatchObject([
      { undoes: id, undoable: true },
      { id, undoable: false, undoneBy: entries[0].id },
    ]);
  });

  it("brings back who was removed, as it was, with the time it had left", async () => {
    const admin = await started();
    const { ask, gate } = admin;
    const put = await ask("PUT", "/v1/lists/blocklist/203.0.113.7", { for: "1h", why: "flood" }, as("ann"));
    await ask("DELETE", "/v1/lists/blocklist/203.0.113.7", undefined, as("bob"));
    const { id } = await newest(admin);
    expect((await ask("POST", `/v1/audit/${id}/undo`, {}, as("cyd"))).status).toBe(200);
    const { entry } = (await ask("GET", "/v1/lists/blocklist/203.0.113.7")).json;
    expect(entry).toMatchObject({ who: "ann", why: "flood" });
    expect(Math.abs(entry.until - put.json.entry.until)).toBeLessThan(5000);
    expect((await gate.decide(request("203.0.113.7"))).reason).toBe("blocklist");
    expect(await newest(admin)).toMatchObject({ who: "cyd", what: "blocklist.add", undoes: id });
  });

  it("brings back what an addition replaced, and for ever what was for ever", async () => {
    const admin = await started();
    const { ask } = admin;
    await ask("PUT", "/v1/lists/safelist/2001:db8::%2F48", { for: "permanent", why: "office" }, as("ann"));
    await ask("PUT", "/v1/lists/safelist/2001:DB8::%2F48", { for: "1h" }, as("bob"));
    const { id } = await newest(admin);
    await ask("POST", `/v1/audit/${id}/undo`);
    expect((await ask("GET", "/v1/lists/safelist/2001:db8::%2F48")).json.entry).toEqual({
      address: "2001:db8::/48",
      who: "ann",
      why: "office",
    });
  });

  it("is undone itself, and then the act can be undone again", async () => {
    const admin = await started();
    const { ask } = admin;
    await ask("PUT", "/v1/lists/blocklist/203.0.113.7", { for: "permanent" });
    const act = (await newest(admin)).id;
    const first = (await ask("POST", `/v1/audit/${act}/undo`)).json.entry.id;
    const second = await ask("POST", `/v1/audit/${first}/undo`);
    expect(second).toMatchObject({ status: 200, json: { entry: { what: "blocklist.add", undoes: first } } });
    expect((await ask("GET", "/v1/lists/blocklist/203.0.113.7")).status).toBe(200);
    expect((await ask("POST", `/v1/audit/${first}/undo`)).json).toMatchObject({
      code: "TG_UNDO_DONE",
      detail: expect.stringContaining(`entry ${second.json.entry.id}`),
    });
    const again = await ask("POST", `/v1/audit/${act}/undo`);
    expect(again).toMatchObject({ status: 200, json: { entry: { what: "blocklist.remove", undoes: act } } });
    expect((await ask("GET", "/v1/lists/blocklist/203.0.113.7")).status).toBe(404);
  });

  it("does not bring back who would have ended by now", async () => {
    const admin = await started();
    const { ask, data } = admin;
    const { id } = await data.audit.add({
      who: "ann",
      what: "blocklist.remove",
      target: "203.0.113.7",
      before: { address: "203.0.113.7", until: Date.now() - 1 },
    });
    expect((await newest(admin)).undoable).toBe(false);
    expect(await ask("POST", `/v1/audit/${id}/undo`, { force: true })).toMatchObject({
      status: 409,
      json: { code: "TG_UNDO_NEVER", detail: expect.stringContaining("ended by itself") },
    });
    expect((await ask("GET", "/v1/lists/blocklist")).json.entries).toEqual([]);
  });

  it("shuts out nobody by a slip: your own address comes back only if forced", async () => {
    const admin = await started();
    const { ask } = admin;
    await ask("PUT", "/v1/lists/blocklist/127.0.0.1", { force: true });
    await ask("DELETE", "/v1/lists/blocklist/127.0.0.1");
    const { id } = await newest(admin);
    expect((await ask("POST", `/v1/audit/${id}/undo`)).json.code).toBe("TG_GUARD");
    expect((await ask("POST", `/v1/audit/${id}/undo`, { force: true })).status).toBe(200);
  });
});

describe("undoing a customer's change", () => {
  it("brings tier and limits back, one without the other", async () => {
    const admin = await started();
    const { ask } = admin;
    await ask("PUT", "/v1/customers/acme/tier", { tier: "pro" });
    const tier = (await newest(admin)).id;
    await ask("PUT", "/v1/customers/acme/limits", { limits: { 3600: 50, 60: 5 } });
    const first = (await newest(admin)).id;
    await ask("PUT", "/v1/customers/acme/limits", { limits: { 60: 9 } });
    const second = (await newest(admin)).id;

    expect((await ask("POST", `/v1/audit/${tier}/undo`)).json.entry).toMatchObject({
      what: "customer.tier",
      before: "pro",
      after: null,
    });
    await ask("POST", `/v1/audit/${second}/undo`);
    expect((await ask("GET", "/v1/customers/acme")).json).toEqual({
      id: "acme",
      tier: null,
      limits: { 60: 5, 3600: 50 },
    });
    await ask("POST", `/v1/audit/${first}/undo`);
    expect((await ask("GET", "/v1/customers/acme")).status).toBe(404);
  });
});

describe("undoing a policy", () => {
  it("puts the version before in force again, as a new one, and can be undone", async () => {
    const admin = await started();
    const { ask } = admin;
    await ask("POST", "/v1/policy", { text: nextPolicy });
    const { id } = await newest(admin);
    const { status, json } = await ask("POST", `/v1/audit/${id}/undo`, { why: "too much" }, as("bob"));
    expect(status).toBe(200);
    expect(json.entry).toMatchObject({
      who: "bob",
      why: "too much",
      what: "policy.rollback",
      before: 2,
      after: 3,
      undoes: id,
    });
    expect((await ask("GET", "/v1/policy")).json.version).toMatchObject({ id: 3, text: firstPolicy });
    await ask("POST", `/v1/audit/${json.entry.id}/undo`);
    expect((await ask("GET", "/v1/policy")).json.version).toMatchObject({ id: 4, text: nextPolicy });
  });

  it("of a version that is no longer the newest is refused, with the newest; forced it goes back all the same", async () => {
    const admin = await started();
    const { ask } = admin;
    await ask("POST", "/v1/policy", { text: nextPolicy });
    const { id } = await newest(admin);
    await ask("POST", "/v1/policy", { text: lastPolicy }, as("bob"));
    const { status, json } = await ask("POST", `/v1/audit/${id}/undo`);
    expect([status, json.code]).toEqual([409, "TG_UNDO_STALE"]);
    expect(json.now).toMatchObject({ id: 3, who: "bob" });
    expect(json.now).not.toHaveProperty("text");
    await ask("POST", `/v1/audit/${id}/undo`, { force: true });
    expect((await ask("GET", "/v1/policy")).json.version).toMatchObject({ id: 4, text: firstPolicy });
  });

  it("has nothing to go back to before the first, and nothing to do where the text is the old one again", async () => {
    const admin = await started();
    const { ask } = admin;
    const first = (await newest(admin)).id;
    expect((await ask("POST", `/v1/audit/${first}/undo`)).json.code).toBe("TG_UNDO_NEVER");
    await ask("POST", "/v1/policy", { text: nextPolicy });
    const { id } = await newest(admin);
    await ask("POST", "/v1/policy/rollback");
    expect((await ask("POST", `/v1/audit/${id}/undo`)).json).toMatchObject({
      code: "TG_UNDO_DONE",
      detail: expect.stringContaining("already as it was"),
    });
    expect((await ask("GET", "/v1/policy")).json.status.version).toBe(3);
  });
});

describe("undoing an edge's mode", () => {
  it("sets the mode before, at the edge too", async () => {
    const admin = await startEdgesAdmin({ names: ["cdn"] });
    const { ask, tables } = admin;
    await ask("POST", "/v1/edges/cdn/mode", { mode: "off" }, as("ann"));
    const { id } = await newest(admin);
    const { json } = await ask("POST", `/v1/audit/${id}/undo`, {}, as("bob"));
    expect(json.entry).toMatchObject({ what: "edge.mode", target: "cdn", before: "off", after: "on" });
    await expect.poll(() => tables.cdn?.mode, { timeout: 10_000 }).toBe("on");
    expect((await ask("GET", "/v1/edges/cdn")).json.edge).toMatchObject({
      mode: "on",
      setBy: { who: "bob" },
    });
  });

  it("of a mode set again since is refused, with the mode now", async () => {
    const admin = await startEdgesAdmin({ names: ["cdn"] });
    const { ask } = admin;
    await ask("POST", "/v1/edges/cdn/mode", { mode: "off" });
    const { id } = await newest(admin);
    await ask("POST", "/v1/edges/cdn/mode", { mode: "shadow" }, as("bob"));
    expect((await ask("POST", `/v1/audit/${id}/undo`)).json).toMatchObject({
      code: "TG_UNDO_STALE",
      now: { edge: "cdn", mode: "shadow", setBy: { who: "bob" } },
    });
  });
});

describe("an undo is refused, and changes and notes nothing,", () => {
  it("when somebody changed it again since: what it is now is told, and force overrides", async () => {
    const admin = await started();
    const { ask, data } = admin;
    await ask("PUT", "/v1/customers/acme/tier", { tier: "pro" });
    const tier = (await newest(admin)).id;
    await ask("PUT", "/v1/lists/blocklist/203.0.113.7", { for: "1h" });
    const entry = (await newest(admin)).id;
    await ask("PUT", "/v1/customers/acme/tier", { tier: "free" });
    await ask("PUT", "/v1/lists/blocklist/203.0.113.7", { for: "2h", why: "worse" }, as("bob"));
    const before = await data.audit.list();
    expect(await ask("POST", `/v1/audit/${tier}/undo`)).toMatchObject({
      status: 409,
      json: {
        code: "TG_UNDO_STALE",
        detail: expect.stringContaining('"free"'),
        now: { id: "acme", tier: "free", limits: null },
        help: expect.stringContaining("force"),
      },
    });
    expect((await ask("POST", `/v1/audit/${entry}/undo`)).json).toMatchObject({
      code: "TG_UNDO_STALE",
      now: { address: "203.0.113.7", who: "bob", why: "worse" },
    });
    expect(await data.audit.list()).toEqual(before);
    expect((await ask("POST", `/v1/audit/${tier}/undo`, { force: true })).status).toBe(200);
    expect((await ask("GET", "/v1/customers/acme")).status).toBe(404);
    expect((await ask("POST", `/v1/audit/${entry}/undo`, { force: true })).status).toBe(200);
    expect((await ask("GET", "/v1/lists/blocklist")).json.entries).toEqual([]);
  });

  it("when it was undone already, or is as it was by another way", async () => {
    const admin = await started();
    const { ask } = admin;
    await ask("PUT", "/v1/customers/acme/tier", { tier: "pro" });
    const { id } = await newest(admin);
    const undo = (await ask("POST", `/v1/audit/${id}/undo`)).json.entry.id;
    await ask("PUT", "/v1/customers/acme/tier", { tier: "pro" });
    expect((await ask("POST", `/v1/audit/${id}/undo`, { force: true })).json).toMatchObject({
      code: "TG_UNDO_DONE",
      detail: `It was undone already, by entry ${undo}. Nothing was changed.`,
    });
    const again = (await newest(admin)).id;
    await ask("PUT", "/v1/customers/acme/tier", { tier: null });
    expect((await ask("POST", `/v1/audit/${again}/undo`)).json).toMatchObject({ code: "TG_UNDO_DONE" });
  });

  it("when nothing can bring it back", async () => {
    const admin = await startEdgesAdmin({ names: ["cdn"] });
    const { ask } = admin;
    await ask("POST", "/v1/clear", { subject: { ip: "203.0.113.7" } });
    expect(await newest(admin)).toMatchObject({ what: "client.clear", undoable: false });
    await ask("POST", "/v1/edges/sync");
    const { entries } = (await ask("GET", "/v1/audit?most=2")).json;
    for (const { id } of entries)
      expect(await ask("POST", `/v1/audit/${id}/undo`, { force: true })).toMatchObject({
        status: 409,
        json: { code: "TG_UNDO_NEVER", help: expect.any(String) },
      });
  });

  it("when there is no such entry, or the body is none", async () => {
    const { ask } = await started();
    for (const id of ["0", "999", "-1", "x", "1.5", "99999999999999999999", "%00", "1e2"])
      expect((await ask("POST", `/v1/audit/${id}/undo`)).json.code).toBe("TG_NOT_FOUND");
    expect((await ask("POST", "/v1/audit/1/undo", { why: 5 })).json).toMatchObject({ path: "body.why" });
    expect((await ask("POST", "/v1/audit/1/undo", { forced: true })).json.code).toBe("TG_REQUEST");
  });
});

describe("of several at once", () => {
  it("one undoes, the others are told it is done", async () => {
    const admin = await started();
    const { ask } = admin;
    await ask("PUT", "/v1/lists/blocklist/203.0.113.7", {});
    const { id } = await newest(admin);
    const replies = await Promise.all(Array.from({ length: 8 }, () => ask("POST", `/v1/audit/${id}/undo`)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ json }) => json.code === "TG_UNDO_DONE")).toHaveLength(7);
  });
});

describe("whoever may not do something may not undo it", () => {
  it("an operator undoes lists and tiers, and neither policies nor modes; a viewer nothing", async () => {
    const admin = await startEdgesAdmin({ names: ["cdn"] });
    const { ask } = admin;
    const made: Record<string, string> = {};
    await ask("POST", "/v1/policy", { text: nextPolicy });
    const policy = (await newest(admin)).id;
    await ask("POST", "/v1/edges/cdn/mode", { mode: "off" });
    const mode = (await newest(admin)).id;
    await ask("PUT", "/v1/customers/acme/tier", { tier: "pro" });
    const tier = (await newest(admin)).id;
    await ask("PUT", "/v1/lists/blocklist/203.0.113.7", {});
    const entry = (await newest(admin)).id;
    let boss = {};
    for (const role of ["admin", "operator", "viewer"]) {
      const { json } = await ask("POST", "/v1/tokens", { name: role, role }, boss);
      made[role] = json.secret;
      boss = { Authorization: `Bearer ${made.admin}` };
    }
    const undo = (id: number, role: string) =>
      ask("POST", `/v1/audit/${id}/undo`, {}, { Authorization: `Bearer ${made[role]}` });
    for (const id of [policy, mode, tier, entry]) expect((await undo(id, "viewer")).status).toBe(403);
    for (const id of [policy, mode]) expect((await undo(id, "operator")).status).toBe(403);
    for (const id of [tier, entry]) expect((await undo(id, "operator")).status).toBe(200);
    for (const id of [policy, mode]) expect((await undo(id, "admin")).status).toBe(200);
  });
});

describe("the audit", () => {
  async function filled(): Promise<Admin> {
    const admin = await started();
    for (let i = 1; i <= 5; i++) {
      await admin.ask("PUT", `/v1/lists/blocklist/198.51.100.${i}`, {}, as(i % 2 === 0 ? "ann" : "bob"));
      await admin.ask("PUT", `/v1/customers/c${i}/tier`, { tier: "pro" }, as("ann"));
    }
    return admin;
  }
  const targets = (json: { entries: { target: string }[] }) => json.entries.map(({ target }) => target);

  it("is searched by who, by what and how that begins, by whom it was done to, and by time", async () => {
    const { ask, data } = await filled();
    expect(targets((await ask("GET", "/v1/audit?who=bob")).json)).toEqual([
      "198.51.100.5",
      "198.51.100.3",
      "198.51.100.1",
    ]);
    expect(targets((await ask("GET", "/v1/audit?what=customer.")).json)).toEqual([
      "c5",
      "c4",
      "c3",
      "c2",
      "c1",
    ]);
    expect(targets((await ask("GET", "/v1/audit?what=blocklist&who=ann")).json)).toEqual([
      "198.51.100.4",
      "198.51.100.2",
    ]);
    expect(targets((await ask("GET", "/v1/audit?target=c3")).json)).toEqual(["c3"]);
    expect((await ask("GET", "/v1/audit?who=nobody")).json).toEqual({ entries: [] });
    const all = await data.audit.list();
    const at = all[3]?.at as number;
    const since = (await ask("GET", `/v1/audit?since=${at}`)).json.entries;
    expect(since.map(({ id }: { id: number }) => id)).toEqual(
      all.filter((entry) => entry.at >= at).map(({ id }) => id),
    );
    const until = (await ask("GET", `/v1/audit?until=${new Date(at).toISOString()}`)).json.entries;
    expect(until.map(({ id }: { id: number }) => id)).toEqual(
      all.filter((entry) => entry.at <= at).map(({ id }) => id),
    );
    expect((await ask("GET", "/v1/audit?since=2999-01-01")).json.entries).toEqual([]);
  });

  it("comes in pages, however much lies between what is looked for", async () => {
    const { ask, data } = await filled();
    for (let i = 0; i < 2500; i++) await data.audit.add({ who: "cron", what: "edge.sync" });
    await ask("PUT", "/v1/customers/c6/tier", { tier: "pro" });
    const seen: string[] = [];
    let next: number | undefined;
    do {
      const { json } = await ask(
        "GET",
        `/v1/audit?what=customer&most=4${next === undefined ? "" : `&before=${next}`}`,
      );
      seen.push(...targets(json));
      next = json.next;
    } while (next !== undefined);
    expect(seen).toEqual(["c6", "c5", "c4", "c3", "c2", "c1"]);
  });

  it("says on every page what was undone, though the undo stands on another", async () => {
    const admin = await filled();
    const { ask, data } = admin;
    const [{ id }] = (await ask("GET", "/v1/audit?target=c1")).json.entries;
    await ask("POST", `/v1/audit/${id}/undo`);
    const by = (await newest(admin)).id;
    for (let i = 0; i < 1200; i++) await data.audit.add({ who: "cron", what: "edge.sync" });
    expect((await newest(admin)).undoable).toBe(false);
    const { entries } = (await ask("GET", `/v1/audit?before=${id + 2}`)).json;
    expect(entries[0]).toMatchObject({ target: "198.51.100.2", undoable: true });
    expect(entries[1]).toMatchObject({ id, undoable: false, undoneBy: by });
  });

  it.each([
    ["since=yesterday", "query.since"],
    ["until=", "query.until"],
    ["format=xml", "query.format"],
    ["who=", "query.who"],
    [`what=${"x".repeat(101)}`, "query.what"],
    ["whom=ann", "query"],
  ])("refuses ?%s by its place", async (query, path) => {
    const { ask } = await started();
    const { status, json } = await ask("GET", `/v1/audit?${query}`);
    expect([status, json.code, json.path]).toEqual([400, "TG_REQUEST", path]);
  });

  it("is taken away whole as NDJSON, one entry a line", async () => {
    const { url, data } = await filled();
    const take = async (query: string) => {
      const reply = await fetch(`${url}/v1/audit?format=ndjson${query}`);
      return { headers: reply.headers, text: await reply.text() };
    };
    for (let i = 0; i < 1500; i++) await data.audit.add({ who: "cron", what: "edge.sync" });
    await data.audit.add({ who: "eve\u2028\n\u0085", what: "x", why: "\r\nline" });
    const { headers, text } = await take("");
    expect(headers.get("content-type")).toBe("application/x-ndjson");
    expect(headers.get("content-disposition")).toContain("tidegate-audit.ndjson");
    const lines = text.trimEnd().split("\n");
    expect(lines).toHaveLength(await countOf(data));
    expect(JSON.parse(lines[0] as string)).toMatchObject({ who: "eve\u2028\n\u0085", why: "\r\nline" });
    expect(text).not.toMatch(/[\u2028\u0085\r]/);
    const some = await take("&who=ann&most=3");
    expect(some.text.trimEnd().split("\n")).toHaveLength(3);
    expect((await take("&who=nobody")).text).toBe("");
  });

  it("as CSV runs no formula and breaks no line, whatever strangers wrote", async () => {
    const { ask, data } = await started();
    const hostile = [
      "=cmd|' /C calc'!A0",
      "+1+1",
      "-2+3",
      "@SUM(A1)",
      "\t=1+1",
      "\r=1+1",
      "\n=1+1",
      " =1+1",
      "\u200b=1+1",
      "＝1+1",
      '"=1+1',
      'a","=1+1',
      "a\r\n=1+1,b",
      "a\u2028=1",
    ];
    for (const text of hostile)
      await data.audit.add({ who: text, what: "x", target: text, why: text, before: text, after: { text } });
    const { headers, text } = await ask("GET", "/v1/audit?format=csv&what=x");
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    const lines = text.split("\r\n");
    expect(lines.shift()).toBe("id,at,who,what,target,why,before,after,undoes,undoneBy");
    expect(lines.pop()).toBe("");
    expect(lines).toHaveLength(hostile.length);
    for (const line of lines) {
      const cells = [...line.matchAll(/"((?:[^"]|"")*)"(?:,|$)/g)].map(([, cell]) =>
        (cell as string).replaceAll('""', '"'),
      );
      expect(cells).toHaveLength(10);
      for (const cell of cells) expect(cell).not.toMatch(/^[\s\p{C}]*[=+\-@＝\t\r\n]/u);
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
    }
    expect(text).toContain(`"'=cmd|' /C calc'!A0"`);
    expect(text).toContain(`"""=1+1"`);
  });
});

async function countOf(data: Admin["data"]): Promise<number> {
  let count = 0;
  let before: number | undefined;
  for (;;) {
    const page = await data.audit.list({ most: 1000, ...(before !== undefined && { before }) });
    count += page.length;
    before = page.at(-1)?.id;
    if (before === undefined || page.length < 1000) return count;
  }
}
