import { describe, expect, it } from "vitest";
import { type HaproxyRenderOptions, renderHaproxy } from "./render-haproxy.js";

const textOf = (options?: HaproxyRenderOptions) => renderHaproxy(options).files[0]?.text ?? "";

describe("what is rendered for HAProxy", () => {
  it("says where it goes, which files it needs, and how Tidegate gets in", () => {
    const text = textOf({ maps: "/srv/maps" });
    expect(renderHaproxy().files.map(({ name }) => name)).toEqual(["tidegate-haproxy.cfg"]);
    expect(text).toMatch(/^# Tidegate: .*frontend/);
    expect(text).toContain("touch /srv/maps/digests.map /srv/maps/addresses.map /srv/maps/mode.map");
    expect(text).toContain("\n#   stats socket /run/haproxy/admin.sock mode 660 group haproxy level admin\n");
    expect(textOf({ socket: "/srv/lb.sock" })).toContain("\n#   stats socket /srv/lb.sock mode 660 group ");
    expect(textOf({ socket: "127.0.0.1:9999" })).toContain("\n#   stats socket 127.0.0.1:9999 level admin\n");
    expect(textOf()).toContain("map_ip(/etc/haproxy/tidegate/addresses.map)");
  });

  it("hashes as the library was told to", () => {
    expect(textOf()).toMatch(/standard\),sha2\(256\),hex,lower,map_str/);
    expect(textOf({ fingerprint: "seed" })).toMatch(/standard\),sha1,hex,lower,map_str/);
    expect(textOf({ fingerprint: "seed" })).not.toContain("length");
  });

  it("looks up networks of the size clients are counted by", () => {
    expect(textOf()).toContain("ipmask(32,64)");
    expect(textOf({ ipv6Prefix: 56 })).toContain("ipmask(32,56)");
  });

  it("believes nobody about the client's address unless told whom", () => {
    expect(textOf()).not.toContain("hdr_ip");
    expect(textOf({ client: { header: "X-Real-IP", from: ["10.0.0.0/8", "2001:db8::1"] } })).toContain(
      "set-var(txn.tidegate_address) req.hdr_ip(X-Real-IP,-1) if { src 10.0.0.0/8 2001:db8::1 }\n",
    );
  });

  const header = "X-Forwarded-For";
  const from = ["10.0.0.0/8"];
  it.each<[string, object]>([
    ["a folder with a space", { maps: "/etc/a b" }],
    ["a folder that ends its line", { maps: "/etc/a\n" }],
    ["a folder with a quote", { maps: '/etc/"' }],
    ["a folder that closes its bracket", { maps: "/etc/a)" }],
    ["a folder from nowhere", { maps: "maps" }],
    ["a folder above", { maps: "/etc/../x" }],
    ["a socket that ends its line", { socket: "/run/a\nglobal" }],
    ["a socket with a space", { socket: "/run/a b" }],
    ["another hash", { fingerprint: "md5" }],
    ["no prefix", { ipv6Prefix: 0 }],
    ["half a prefix", { ipv6Prefix: 63.5 }],
    ["a prefix beyond an address", { ipv6Prefix: 129 }],
    ["a prefix with more after it", { ipv6Prefix: "64),x" }],
    ["a header that ends its line", { client: { header: "X-A\nfoo", from } }],
    ["a header that closes its bracket", { client: { header: "X),str(", from } }],
    ["no header", { client: { header: "", from } }],
    ["nobody to believe", { client: { header, from: [] } }],
    ["anybody by name", { client: { header, from: ["localhost"] } }],
    ["a block that ends the condition", { client: { header, from: ["10.0.0.0/8 }"] } }],
    ["a block of the wrong size", { client: { header, from: ["10.0.0.0/33"] } }],
    ["an address with a zone", { client: { header, from: ["fe80::1%eth0"] } }],
  ])("lets nothing else into a configuration: %s", (_, options) => {
    expect(() => renderHaproxy(options)).toThrow(expect.objectContaining({ code: "TG_RENDER" }));
  });
});
