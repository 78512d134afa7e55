import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  type HaproxyRenderOptions,
  renderHaproxy,
} from "../../packages/tidegate-server/src/edges/haproxy/render-haproxy.js";

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "tidegate-render-"));
});
afterEach(() => rm(dir, { recursive: true }));

/** What `haproxy -c` says of two frontends with exactly what was rendered. */
async function checked(options: HaproxyRenderOptions): Promise<string> {
  const text = renderHaproxy({ ...options, maps: dir }).files[0]?.text;
  const frontend = (name: string, port: number) => `frontend ${name}
    mode http
    timeout client 5s
    bind 127.0.0.1:${port}
${text}
`;
  await writeFile(join(dir, "haproxy.cfg"), frontend("one", 8_080) + frontend("other", 8_081));
  const { stdout, stderr } = await promisify(execFile)("haproxy", ["-c", "-f", join(dir, "haproxy.cfg")]);
  return stdout + stderr;
}

it.each<[string, HaproxyRenderOptions]>([
  ["as it is", {}],
  ["in the seed's form", { fingerprint: "seed" }],
  ["with other networks", { ipv6Prefix: 48 }],
  [
    "behind proxies",
    { client: { header: "X-Forwarded-For", from: ["10.0.0.0/8", "2001:db8::/32", "192.0.2.1"] } },
  ],
])("HAProxy takes it without a warning, more than once: %s", async (_, options) => {
  // The comment in its head says to make these.
  for (const name of ["digests", "addresses", "mode"]) await writeFile(join(dir, `${name}.map`), "");
  expect((await checked(options)).trim()).toBe("Configuration file is valid");
});

it("HAProxy does not start without the maps, so nobody believes to be guarded who is not", async () => {
  await expect(checked({})).rejects.toThrow(/digests\.map|addresses\.map/);
});
