import { describe, expect, it } from "vitest";
import { headerKinds } from "./header-kinds.js";
import { withoutNamed } from "./hop-by-hop.js";

const kindOf = headerKinds({ clientIpHeader: "True-Client-IP", identity: ["X-Customer-Id"] });

describe("a request header is", () => {
  it.each([
    ["Host", "host"],
    ["hOsT", "host"],
    ["Proxy-Connection", "hop"],
    ["Proxy-Authorization", "hop"],
    ["Expect", "hop"],
    ["X-Customer-ID", "identity"],
    ["X_Customer_Id", "look-alike"],
    ["x-customer_id", "look-alike"],
    ["True_Client-IP", "look-alike"],
    ["true-client-ip", "client-ip"],
    ["X-Real-IP", "proxy-only"],
    ["Forwarded", "hop"],
    ["X-Forwarded-For", "hop"],
    ["X-Forwarded-Ssl", "proxy-only"],
    ["X_FORWARDED_FOR", "look-alike"],
    ["X-Forwarded_Ssl", "look-alike"],
    ["Content_Length", "look-alike"],
    ["transfer_encoding", "look-alike"],
    ["X-Mine", "plain"],
    ["__proto__", "plain"],
    ["constructor", "plain"],
  ])("%s: %s", (name, kind) => {
    expect([kindOf(name), kindOf(name)]).toEqual([kind, kind]);
  });

  it("the chain that is believed, and not the other", () => {
    const kinds = (clientIpHeader: string) => {
      const kindOf = headerKinds({ clientIpHeader, identity: [] });
      return [kindOf("X-Forwarded-For"), kindOf("Forwarded")];
    };
    expect(kinds("X-Forwarded-For")).toEqual(["x-forwarded-for", "hop"]);
    expect(kinds("Forwarded")).toEqual(["hop", "forwarded"]);
  });

  it("known as such however many others were seen before", () => {
    for (let i = 0; i < 2000; i++) kindOf(`X-${i}`);
    expect(kindOf("Keep-aLIVE")).toBe("hop");
  });
});

describe("Connection", () => {
  it("takes what it names, but neither Host nor the body's length", () => {
    const headers = ["Host", "a", "Content-Length", "1", "X-A", "1", "x-b", "2", "X-C", "3"];
    expect(withoutNamed(headers, "close, x-a ,X-B,host, content-length")).toEqual([
      "Host",
      "a",
      "Content-Length",
      "1",
      "X-C",
      "3",
    ]);
    expect(withoutNamed(headers, "keep-alive")).toBe(headers);
  });
});
