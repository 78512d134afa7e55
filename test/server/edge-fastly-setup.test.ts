import { describe, expect, it, onTestFinished } from "vitest";
import { fastlyEdge } from "../../packages/tidegate-server/src/edges/fastly/fastly-edge.js";
import { setUpFastly } from "../../packages/tidegate-server/src/edges/fastly/set-up-fastly.js";
import { type FastlyFake, startFastlyFake } from "../servers/fastly-fake/index.js";
import { settingsFor } from "./edge-fastly-rig.js";

const never = new AbortController().signal;

async function started(): Promise<FastlyFake> {
  const fake = await startFastlyFake();
  onTestFinished(() => fake.close());
  return fake;
}

const serving = ({ service }: FastlyFake) =>
  [...service.versions.values()].filter(({ isActive }) => isActive);
const writes = ({ calls }: FastlyFake): string[] =>
  calls.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);

describe("setting up a service", () => {
  it("a dry run says what it would do, and does nothing", async () => {
    const fake = await started();
    const lines: string[] = [];
    const { steps, version } = await setUpFastly({
      settings: settingsFor(fake, { shards: 2 }),
      isDryRun: true,
      log: (line) => lines.push(line),
    });
    expect(lines).toEqual(steps);
    expect(steps).toEqual([
      "Would clone version 1, which is active.",
      "Would create the dictionary tidegate_0.",
      "Would create the dictionary tidegate_1.",
      "Would create the dictionary tidegate_conf.",
      "Would create the snippet tidegate_include (init).",
      "Would create the snippet tidegate_recv (recv).",
      "Would create the snippet tidegate_miss (miss).",
      "Would create the snippet tidegate_pass (pass).",
      "Would create the snippet tidegate_error (error).",
      "Would let Fastly validate it, and activate it.",
    ]);
    expect(version).toBe(1);
    expect(writes(fake)).toEqual([]);
  });

  it("makes what an edge needs, in a version of its own, validated before it is activated", async () => {
    const fake = await started();
    const settings = settingsFor(fake, { shards: 4, canary: "https://www.example.com/canary" });
    const { version } = await setUpFastly({ settings, isDryRun: false });
    expect(version).toBe(2);
    const [active] = serving(fake);
    expect([...(active?.dictionaries.keys() ?? [])]).toEqual([
      "tidegate_0",
      "tidegate_1",
      "tidegate_2",
      "tidegate_3",
      "tidegate_conf",
    ]);
    expect(active?.snippets.get("tidegate_include")?.content).toContain('req.url.path == "/canary"');
    expect(active?.snippets.get("tidegate_pass")).toMatchObject({
      content: "call tidegate_pass;",
      type: "pass",
      priority: "10",
      dynamic: "0",
    });
    const asked = fake.calls.map(({ method, path }) => `${method} ${path}`);
    expect(asked.indexOf("GET /version/2/validate")).toBeLessThan(asked.indexOf("PUT /version/2/activate"));
    const edge = fastlyEdge(settings);
    onTestFinished(() => edge.close());
    await edge.apply({ remove: [], put: [{ key: "203.0.113.7", until: Date.now() + 60_000 }] }, never);
    expect([...(await edge.current([], never)).entries.keys()]).toEqual(["203.0.113.7"]);
  });

  it("done again it changes nothing", async () => {
    const fake = await started();
    const options = { settings: settingsFor(fake), isDryRun: false };
    await setUpFastly(options);
    const before = writes(fake).length;
    expect(await setUpFastly(options)).toEqual({
      steps: ["Version 2 is active and has everything."],
      version: 2,
    });
    expect(writes(fake).length).toBe(before);
  });

  it("more dictionaries keep the entries of those there are", async () => {
    const fake = await started();
    await setUpFastly({ settings: settingsFor(fake, { shards: 1 }), isDryRun: false });
    fake.put("tidegate_0", "203.0.113.7", "true");
    const { steps } = await setUpFastly({ settings: settingsFor(fake, { shards: 2 }), isDryRun: false });
    expect(steps.filter((step) => /^(?:Create|Replace)/.test(step))).toEqual([
      "Create the dictionary tidegate_1.",
      "Replace the snippet tidegate_include (init).",
    ]);
    expect(fake.items("tidegate_0").get("203.0.113.7")).toBe("true");
  });

  it("what the service has of its own stays as it is", async () => {
    const fake = await started();
    const own = {
      id: "a",
      name: "own",
      type: "recv",
      content: 'set req.http.X-Own = "1";',
      priority: "100",
      dynamic: "0",
    };
    serving(fake)[0]?.snippets.set("own", own);
    fake.create("redirects");
    fake.put("redirects", "/a", "/b");
    await setUpFastly({ settings: settingsFor(fake), isDryRun: false });
    expect(serving(fake)[0]?.snippets.get("own")).toEqual(own);
    expect(fake.items("redirects").get("/a")).toBe("/b");
  });

  it.each([
    "POST /version/2/dictionary",
    "POST /version/2/snippet",
    "PUT /version/2/activate",
    "GET /version/2/validate",
  ])("interrupted at %s nothing serves differently, and another run brings it to its end", async (step) => {
    const fake = await started();
    const options = { settings: settingsFor(fake, { shards: 2 }), isDryRun: false };
    fake.fail({ match: new RegExp(`^${step}$`), isReset: "before" });
    await expect(setUpFastly(options)).rejects.toMatchObject({ code: "TG_EDGE_UNREACHED" });
    expect(serving(fake).map(({ number }) => number)).toEqual([1]);
    const { version, steps } = await setUpFastly(options);
    expect(version).toBe(3);
    expect(steps[0]).toContain("Version 2 is a draft of somebody's");
    expect(serving(fake).map(({ number }) => number)).toEqual([3]);
    expect((await setUpFastly(options)).version).toBe(3);
  });

  it("somebody's draft is neither changed nor activated", async () => {
    const fake = await started();
    const headers = { "Fastly-Key": fake.token };
    await fetch(`${fake.url}/service/${fake.service.id}/version/1/clone`, { method: "PUT", headers });
    const draft = structuredClone(fake.service.versions.get(2));
    const { version } = await setUpFastly({ settings: settingsFor(fake), isDryRun: false });
    expect(version).toBe(3);
    expect(fake.service.versions.get(2)).toEqual(draft);
  });

  it("what somebody locked, edited or overtook meanwhile is not activated", async () => {
    const meddle: ((fake: FastlyFake) => void)[] = [
      ({ service }) => void Object.assign(service.versions.get(2) ?? {}, { isLocked: true }),
      ({ service }) =>
        void service.versions.get(2)?.snippets.set("hasty", {
          id: "h",
          name: "hasty",
          type: "recv",
          content: "esi;",
          priority: "1",
          dynamic: "0",
        }),
      ({ service }) => void Object.assign(service.versions.get(1) ?? {}, { isActive: false }),
    ];
    for (const change of meddle) {
      const fake = await started();
      const log = (line: string): void => void (line.startsWith("Validate") && change(fake));
      await expect(setUpFastly({ settings: settingsFor(fake), isDryRun: false, log })).rejects.toMatchObject({
        code: "TG_EDGE_SETUP",
      });
      expect(writes(fake).some((each) => each.endsWith("/activate"))).toBe(false);
    }
  });

  it("VCL that Fastly does not find valid is not activated", async () => {
    const fake = await started();
    const broken = {
      id: "b",
      name: "broken",
      type: "recv",
      content: "call nobody;",
      priority: "100",
      dynamic: "0",
    };
    serving(fake)[0]?.snippets.set("broken", broken);
    await expect(setUpFastly({ settings: settingsFor(fake), isDryRun: false })).rejects.toThrow(
      /does not find version 2 valid/,
    );
    expect(serving(fake).map(({ number }) => number)).toEqual([1]);
  });

  it("a snippet of our name that is somebody else's is not replaced", async () => {
    const fake = await started();
    const theirs = {
      id: "t",
      name: "tidegate_recv",
      type: "recv",
      content: "esi;",
      priority: "100",
      dynamic: "0",
    };
    serving(fake)[0]?.snippets.set("tidegate_recv", theirs);
    await expect(setUpFastly({ settings: settingsFor(fake), isDryRun: false })).rejects.toThrow(
      /another prefix/,
    );
    expect(writes(fake)).toEqual([]);
  });
});
