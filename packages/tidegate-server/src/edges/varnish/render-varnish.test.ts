import { describe, expect, it } from "vitest";
import { Secret } from "../../secret.js";
import { renderVarnish } from "./render-varnish.js";
import type { VarnishRenderOptions } from "./varnish-options.js";

const textOf = (options: VarnishRenderOptions = {}): string =>
  renderVarnish(options).files[0]?.text as string;

describe("what is rendered for Varnish", () => {
  it("is one file that says where it goes and needs no calls", () => {
    const { files } = renderVarnish();
    expect(files.map(({ name }) => name)).toEqual(["tidegate.vcl"]);
    expect(textOf()).toMatch(/^# Tidegate: /);
    expect(textOf()).toContain('include "tidegate.vcl";');
  });

  it("takes orders on its own listener alone, from this machine unless told otherwise", () => {
    expect(textOf()).toContain('local.socket == "tidegate"');
    expect(textOf()).toContain('  "127.0.0.1";\n  "::1";\n');
    expect(textOf({ control: ["10.0.0.0/8", "2001:db8::/32"] })).toContain(
      '  "10.0.0.0"/8;\n  "2001:db8::"/32;\n',
    );
    expect(textOf({ listener: "orders" })).not.toContain('local.socket == "tidegate"');
  });

  it("never holds the token, only its digest", () => {
    const text = textOf({ token: new Secret("s3cret-of-control") });
    expect(text).not.toContain("s3cret");
    expect(text).toMatch(/hash_sha256\("" \+ req\.http\.Authorization\) != "[0-9a-f]{64}"/);
  });

  it("names a storage for the table only if there is one", () => {
    expect(textOf()).not.toContain("beresp.storage");
    expect(textOf({ storage: "table" })).toContain("set beresp.storage = storage.table;");
  });

  it.each<[string, object]>([
    ["fingerprint", { fingerprint: "md5" }],
    ["ipv6Prefix", { ipv6Prefix: 56 }],
    ["listener", { listener: 'x"' }],
    ["listener", { listener: "x\ny" }],
    ["listener", { listener: "" }],
    ["storage", { storage: "s0; }" }],
    ["storage", { storage: "1s" }],
    ["control", { control: [] }],
    ["control[0]", { control: ['127.0.0.1"; } sub vcl_recv {'] }],
    ["control[1]", { control: ["127.0.0.1", "localhost"] }],
    ["control[0]", { control: ["::1\n"] }],
    ["control[0]", { control: ["10.0.0.0/33"] }],
    ["graceSeconds", { graceSeconds: 1.5 }],
    ["graceSeconds", { graceSeconds: "1s; }" }],
    ["graceSeconds", { graceSeconds: -1 }],
  ])("lets nothing else into VCL: %s of %j", (path, options) => {
    expect(() => renderVarnish(options as VarnishRenderOptions)).toThrow(
      expect.objectContaining({ code: "TG_RENDER", path }),
    );
  });
});
