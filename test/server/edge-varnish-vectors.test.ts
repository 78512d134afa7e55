import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openVarnish, type VarnishRig } from "./edge-varnish-rig.js";
import { fingerprintVectors } from "./fingerprint-vectors.js";

describe.each(["sha256", "seed"] as const)("fingerprints in VCL, %s", (form) => {
  let rig: VarnishRig;
  beforeAll(async () => {
    rig = await openVarnish({ render: { fingerprint: form }, vcl: "sub vcl_recv { return (pass); }" });
  }, 60_000);
  afterAll(() => rig?.close());

  describe.each(["standard", "broad"] as const)("%s", (kind) => {
    it.each(fingerprintVectors.map((vector) => [vector.name, vector] as const))(
      "are the library's byte for byte: %s",
      async (_, { userAgent, name, standard, broad, ...request }) => {
        const key = `/tidegate/${(kind === "standard" ? standard : broad)[form]}`;
        const send = () => rig.send({ ...request, ...(userAgent !== "" && { userAgent }) });
        // Node, which is the origin, knows no method in lower case.
        const { status } = await send();
        expect([200, 400]).toContain(status);
        expect((await rig.order("PUT", key)).status).toBe(200);
        expect((await send()).status).toBe(429);
        expect((await rig.order("DELETE", key)).status).toBe(200);
        expect((await send()).status).toBe(status);
      },
    );
  });
});
