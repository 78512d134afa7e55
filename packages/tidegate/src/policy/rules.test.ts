import { describe, expect, it } from "vitest";
import { ConfigError } from "../errors.js";
import { openGate, perIp } from "../testing/open-gate.js";

describe("an option that can not be meant", () => {
  const nothings = [null, false, 0, ""];
  it.each<[object, string, string]>([
    ...nothings.map((hold) => [{ hold }, "TG_OPTIONS", "hold"] as [object, string, string]),
    ...nothings.map((trust) => [{ trust }, "TG_OPTIONS", "trust"] as [object, string, string]),
    [{ hold: { for: "1m", everywhere: "yes" } }, "TG_CHOICE", "hold.everywhere"],
    [{ clearOnSuccess: "yes" }, "TG_CHOICE", "clearOnSuccess"],
    [{ expose: "no" }, "TG_CHOICE", "expose"],
    [{ expose: null }, "TG_CHOICE", "expose"],
    [{ edges: 5 }, "TG_CHOICE", "edges"],
    [{ edges: [5] }, "TG_CHOICE", "edges"],
    [{ action: "delay", maxDelay: null }, "TG_DURATION", "maxDelay"],
    [{ action: "delay", maxDelay: "25d" }, "TG_DELAY", "maxDelay"],
  ])("of a rule is refused when made: %j", (options, code, path) => {
    const build = () => openGate({ rules: [{ ...perIp, ...options } as never] });
    expect(build).toThrow(ConfigError);
    expect(build).toThrow(expect.objectContaining({ code, path: `rules[0] ("req/ip").${path}` }));
  });

  it.each<[object, string]>([
    ...[null, false, 5, []].map((tiers) => [{ tiers }, "TG_OPTIONS"] as [object, string]),
    [{ canFinish: "no" }, "TG_CHOICE"],
    [{ onDegraded: null }, "TG_HOOK"],
    [{ onRecovered: "log" }, "TG_HOOK"],
  ])("of a gate is refused when made: %j", (options, code) => {
    const build = () => openGate({ rules: [perIp], ...options });
    expect(build).toThrow(ConfigError);
    expect(build).toThrow(expect.objectContaining({ code, path: Object.keys(options)[0] }));
  });
});
