import { describe, expect, it } from "vitest";
import { demoConfig, loadText } from "../config/load-config.js";
import { welcome } from "./welcome.js";

const urls = {
  proxy: "http://127.0.0.1:8080",
  decide: "http://127.0.0.1:8090",
  admin: "http://127.0.0.1:8088",
};
const policy = { version: 1, at: 0, who: "demo", source: "demo" } as const;
const begun = { policy };
const rules = "policy: { rules: [{ name: a, by: ip, limits: [5 per hour] }] }";
const withFile = (text: string) => {
  const { settings } = loadText(`upstreams: [{ url: http://127.0.0.1:3000 }]\n${rules}\n${text}`, {
    env: {},
  });
  return { settings, file: "/etc/tidegate.yaml" };
};

describe("a welcome", () => {
  it("of the demo shows what its limit does", () => {
    const text = welcome(demoConfig(), urls, begun);
    expect(text).toContain("runs a demo: 100 requests a minute");
    expect(text).toContain("seq 105");
    expect(text).toContain("/v1/decide -d");
  });

  it("of an upstream without a file says that the demo's limit holds", () => {
    const text = welcome(demoConfig({ upstream: "http://127.0.0.1:3000" }), urls, begun);
    expect(text).toContain("runs without a file: 100 requests a minute");
    expect(text).not.toContain("undefined");
  });

  it("where the data has a policy of its own says that, and tries nothing of the demo's limit", () => {
    const own = { ...policy, version: 7, who: "ann", source: "api" } as const;
    for (const config of [demoConfig(), demoConfig({ upstream: "http://127.0.0.1:3000" })]) {
      const text = welcome(config, urls, { policy: own });
      expect(text).toContain("its data has a policy, version 7 by ann, and that one rules");
      expect(text).toContain("another --data begins anew");
      expect(text).not.toMatch(/100 requests|seq 105/);
    }
  });

  it("where that policy is in Redis names what begins anew there", () => {
    const own = { ...policy, version: 7, who: "ann", source: "api" } as const;
    const text = welcome(demoConfig({ redis: "redis://127.0.0.1:6379" }), urls, { policy: own });
    expect(text).toContain("another store.prefix (in a tidegate.yaml) begins anew");
    expect(text).not.toContain("--data");
  });

  it("of a file names the file, and nothing to try that it would refuse", () => {
    const text = welcome(withFile(""), urls, begun);
    expect(text).toContain("Tidegate runs /etc/tidegate.yaml.");
    expect(text).toContain("curl -i http://127.0.0.1:8080/\n");
    expect(text).toContain("tidegate why 203.0.113.9\n");
    for (const word of ["seq 105", "-d '", "safelist", "--url", "TIDEGATE_TOKEN"])
      expect(text).not.toContain(word);
  });

  it("of a file follows its peers, its token, its hosts and its ports", () => {
    const more = "decide: { peers: [loopback] }\nadmin: { token: 0123456789abcdef0123456789abcdef }";
    const { settings, file } = withFile(more);
    const upstreams = settings.upstreams.map((each) => ({
      ...each,
      hosts: ["*.x.com", "a.x.com"],
      path: "/api",
    }));
    const text = welcome(
      { settings: { ...settings, upstreams }, file },
      { ...urls, admin: "http://127.0.0.1:9000" },
      begun,
    );
    expect(text).toContain("curl -i -H 'Host: a.x.com' http://127.0.0.1:8080/api\n");
    expect(text).toContain("/v1/decide -d");
    expect(text).toContain("export TIDEGATE_TOKEN=");
    expect(text).toContain("tidegate policy show --url http://127.0.0.1:9000");
    expect(text).not.toContain("0123456789abcdef");
  });

  it("of a server with nothing to ask says only where it is", () => {
    expect(welcome(withFile(""), {}, begun)).not.toContain("Try,");
  });
});
