import { describe, expect, inject, it } from "vitest";
import { configFile, startTidegate, temporaryFolder } from "./running.js";

interface Held {
  readonly count: number;
  readonly held: readonly { readonly rule: string; readonly key: string; readonly until: number }[];
}

describe("with workers", () => {
  it("whichever of them has seen a hold, it is told once, and is gone when its client is cleared", async () => {
    const folder = temporaryFolder();
    configFile(
      folder,
      `upstreams: [{ url: "http://127.0.0.1:9" }]
store: { kind: redis, url: "redis://127.0.0.1:${inject("redisPort")}", prefix: t${crypto.randomUUID().slice(0, 8)} }
workers: 2
failure: { deadline: 10s }
policy: { rules: [{ name: req/ip, by: ip, limits: [1 per hour], hold: { after: 2, for: [10m] } }] }
`,
    );
    const { proxy, admin } = await startTidegate({ folder });
    const held = async (): Promise<Held> => (await (await fetch(`${admin}/v1/held`)).json()) as Held;
    expect(await held()).toEqual({ held: [], count: 0 });
    const workers = new Set<string>();
    for (let i = 0; i < 200 && workers.size < 2; i++) {
      const response = await fetch(proxy, { headers: { connection: "close" } });
      const { detail = "" } = (await response.json().catch(() => ({}))) as { detail?: string };
      const [worker = ""] = (response.headers.get("tidegate-decision") ?? "").split("-");
      if (detail.startsWith("Held")) workers.add(worker);
    }
    expect(workers.size).toBe(2);
    expect(await held()).toMatchObject({
      count: 1,
      held: [{ rule: "req/ip", key: "127.0.0.1", isHere: true, edges: [], about: { ip: "127.0.0.1" } }],
    });
    const seen = await fetch(`${admin}/v1/clients?within=127.0.0.1`);
    expect(await seen.json()).toMatchObject({ clients: [{ heldUntil: expect.any(Number) }] });
    const cleared = await fetch(`${admin}/v1/clear`, {
      method: "POST",
      body: JSON.stringify({ subject: { ip: "127.0.0.1" } }),
    });
    expect(cleared.status).toBe(200);
    expect(await held()).toEqual({ held: [], count: 0 });
  });
});
