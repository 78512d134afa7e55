import { afterEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { renderTraefik } from "../../packages/tidegate-server/src/edges/render.js";
import { ask, openRig, type Rig, type RigOptions } from "./decide-rig.js";
import { startTraefik, type TraefikOptions } from "./traefik-client.js";

let rig: Rig;
let traefik: { url: string; close(): void };
const reached: Record<string, string>[] = [];

afterEach(async () => {
  traefik?.close();
  await rig?.close();
  reached.length = 0;
});

async function open(options: RigOptions = {}, more: Partial<TraefikOptions> = {}): Promise<void> {
  rig = await openRig(options);
  const [file] = renderTraefik({ decideUrl: rig.url, identify: { customer: "X-Customer-Id" } }).files;
  const { forwardAuth } = parse(file?.text ?? "").http.middlewares.tidegate;
  traefik = await startTraefik({ forwardAuth, app: ({ headers }) => reached.push(headers), ...more });
}

describe("behind a proxy that asks as Traefik does", () => {
  it("a client is let in, then gets 429 with Retry-After and the whole refusal", async () => {
    await open({ rules: [{ name: "req/ip", by: "ip", limits: "2 per 1h" }] });
    const made = {
      "X-Forwarded-For": "198.51.100.1",
      "X-Forwarded-Uri": "/x",
      "X-Customer-Id": "me",
      Origin: "https://a",
    };
    expect((await ask(`${traefik.url}/a`, { headers: made })).status).toBe(200);
    expect((await ask(`${traefik.url}/a?for=nginx`, { headers: made })).status).toBe(200);
    const refused = await ask(`${traefik.url}/a`, { headers: { ...made, accept: "application/json" } });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(refused.headers).toMatchObject({ vary: "Accept", "cache-control": "no-store" });
    expect(refused.json).toMatchObject({ status: 429, rule: "req/ip/3600" });
    expect(reached).toHaveLength(2);
    expect(reached[0]?.["tidegate-decision"]).toMatch(/^\w+-\w+$/);
  });

  it("the blocklisted get 403", async () => {
    await open({ blocklist: ["127.0.0.1"] });
    expect((await ask(traefik.url)).status).toBe(403);
  });

  it.each(["GET", "HEAD", "POST", "DELETE", "OPTIONS"])("it may ask with %s", async (method) => {
    const seen: string[] = [];
    await open({ rules: [{ name: "all", by: "ip", limits: "1 per 1h" }] }, { preserveRequestMethod: true });
    rig.gate.on("decision", ({ subject }) => seen.push(subject.method));
    expect((await ask(traefik.url, { method })).status).toBe(200);
    expect((await ask(traefik.url, { method })).status).toBe(429);
    expect(seen).toEqual([method, method]);
  });

  it("without an answer it lets nobody in, which the rendered file says", async () => {
    await open();
    await rig.kill();
    expect((await ask(traefik.url)).status).toBe(500);
    expect(renderTraefik({ decideUrl: rig.url }).files[0]?.text).toMatch(/without an answer they get 500/);
  });
});
