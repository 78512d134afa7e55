import { expect, it, onTestFinished } from "vitest";
import type {
  ClientsAnswer,
  DecisionAnswer,
  ListPreviewAnswer,
} from "../../packages/tidegate-server/src/api/types.js";
import { startAdmin } from "./api-serving.js";
import { startWhole, visit } from "./live-rig.js";

const preview = async (
  { ask }: Awaited<ReturnType<typeof startWhole>>,
  addresses: readonly string[],
  list = "blocklist",
): Promise<ListPreviewAnswer> => (await ask("POST", `/v1/lists/${list}/preview`, { addresses })).json;

it("a preview names whom entries would hit among clients seen lately, and whether each passes now; nothing is added", async () => {
  const server = await startWhole();
  await visit(server.urls.proxy, "203.0.113.7", 2);
  await visit(server.urls.proxy, "203.0.113.8", 6);
  await visit(server.urls.proxy, "198.51.100.1", 1);
  await visit(server.urls.proxy, "2001:db8:1:2::7", 1);
  const hit = await preview(server, ["203.0.113.0/24"]);
  expect(hit).toMatchObject({ list: "blocklist", count: 2, entries: [{ address: "203.0.113.0/24" }] });
  expect(hit.clients).toMatchObject([
    { client: "203.0.113.8", ip: "203.0.113.8", requests: 6, refused: 3, allowed: false },
    { client: "203.0.113.7", requests: 2, refused: 0, allowed: true },
  ]);
  expect(hit.clients[0]?.refusedAt).toBeGreaterThan(Date.now() - 600_000);
  // One of IPv6 is counted by its block, and an address in it names it.
  expect((await preview(server, ["2001:DB8:1:2::9", "198.51.100.1"])).clients).toMatchObject([
    { client: "198.51.100.1" },
    { client: "2001:db8:1:2::/64" },
  ]);
  expect((await preview(server, ["2001:db8:1:3::/64", "192.0.2.1"])).count).toBe(0);
  expect((await server.ask("GET", "/v1/lists/blocklist")).json).toMatchObject({ entries: [] });
  expect((await server.ask("GET", "/v1/audit?what=blocklist.")).json).toEqual({ entries: [] });
});

it("a preview tells what stands in the way: slips, what can be on no list, and what is there already", async () => {
  const server = await startWhole();
  await server.ask("PUT", "/v1/lists/blocklist/203.0.113.7", { why: "known", for: "1h" });
  const { entries } = await preview(server, [
    "127.0.0.1",
    "10.0.0.0/7",
    "0.0.0.0/0",
    "nonsense",
    "203.0.113.7",
  ]);
  expect(entries).toMatchObject([
    { address: "127.0.0.1", slip: "127.0.0.1 names the address you are calling from." },
    { address: "10.0.0.0/7", slip: "10.0.0.0/7 names a good part of the Internet." },
    { address: "0.0.0.0/0", problem: expect.stringContaining("everyone") },
    { address: "nonsense", problem: expect.stringContaining("not an address") },
    { address: "203.0.113.7", now: { why: "known", etag: expect.stringMatching(/^"/) } },
  ]);
  expect((await preview(server, ["127.0.0.1"], "safelist")).entries).toEqual([{ address: "127.0.0.1" }]);
});

it("a proxy one trusts, and oneself behind it, are put on the blocklist only by force", async () => {
  const admin = await startAdmin({ trustedProxies: ["127.0.0.1", "192.0.2.8"] });
  onTestFinished(() => admin.close());
  const behind = { "X-Forwarded-For": "198.51.100.44" };
  for (const [address, words] of [
    ["192.0.2.8", "names a proxy you trust"],
    ["198.51.100.0/24", "names the address you are calling from"],
  ])
    expect(
      await admin.ask("PUT", `/v1/lists/blocklist/${encodeURIComponent(address as string)}`, {}, behind),
    ).toMatchObject({
      status: 409,
      json: { code: "TG_GUARD", detail: expect.stringContaining(words as string) },
    });
  expect((await admin.ask("PUT", "/v1/lists/blocklist/192.0.2.8", { force: true }, behind)).status).toBe(201);
});

it.each<[what: string, body: object]>([
  ["nothing", {}],
  ["no address", { addresses: [] }],
  ["a text", { addresses: "203.0.113.7" }],
  ["a number", { addresses: [7] }],
  ["too many", { addresses: Array(1001).fill("203.0.113.7") }],
  ["too long a text", { addresses: ["x".repeat(101)] }],
  ["a field there is none of", { addresses: ["203.0.113.7"], force: true }],
])("a preview of %s is refused with the place", async (_, body) => {
  const admin = await startAdmin();
  onTestFinished(() => admin.close());
  expect(await admin.ask("POST", "/v1/lists/blocklist/preview", body)).toMatchObject({
    status: 400,
    json: { code: "TG_REQUEST", path: expect.stringMatching(/^body/) },
  });
});

it("clients seen lately are found within a block", async () => {
  const server = await startWhole();
  await visit(server.urls.proxy, "203.0.113.7", 1);
  await visit(server.urls.proxy, "203.0.114.7", 1);
  const within = async (block: string): Promise<ClientsAnswer> =>
    (await server.ask("GET", `/v1/clients?within=${encodeURIComponent(block)}`)).json;
  expect((await within("203.0.113.0/24")).clients).toMatchObject([{ client: "203.0.113.7", allowed: true }]);
  expect((await within("203.0.112.0/22")).count).toBe(2);
  expect((await within("0.0.0.0/0")).count).toBe(2);
  expect(((await server.ask("GET", "/v1/clients?most=1")).json as ClientsAnswer).clients).toHaveLength(1);
  expect(await server.ask("GET", "/v1/clients?within=nonsense")).toMatchObject({
    status: 400,
    json: { path: "query.within" },
  });
});

it("clients a rule refused under a fingerprint are found by it, whatever their addresses", async () => {
  const server = await startWhole();
  const text = "rules: [{ name: fp, by: standard, limits: [1 per hour] }]\n";
  await server.ask("POST", "/v1/policy", { text });
  await visit(server.urls.proxy, "203.0.113.7", 3);
  await visit(server.urls.proxy, "203.0.113.8", 1);
  const refused = await fetch(server.urls.proxy, { headers: { "X-Forwarded-For": "203.0.113.7" } });
  const id = refused.headers.get("tidegate-decision");
  const { decision }: DecisionAnswer = (await server.ask("GET", `/v1/decisions/${id}`)).json;
  const { key = "" } = decision.verdict ?? {};
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  const found: ClientsAnswer = (await server.ask("GET", `/v1/clients?key=${key.toUpperCase()}`)).json;
  expect(found.clients).toMatchObject([{ client: "203.0.113.7", refused: 3 }]);
  const other: ClientsAnswer = (await server.ask("GET", `/v1/clients?key=${"0".repeat(64)}`)).json;
  expect(other).toEqual({ clients: [], count: 0 });
});
