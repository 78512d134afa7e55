import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Edge } from "../../packages/tidegate-server/src/edge.js";
import { nginxMapEdge } from "../../packages/tidegate-server/src/edges/nginx-map/nginx-map-edge.js";
import { edgeContract } from "./edge-contract.js";
import { type NginxMapRig, openNginxMapRig } from "./edge-nginx-rig.js";

const patience = { timeout: 30_000, interval: 20 };
const signal = () => AbortSignal.timeout(60_000);
const inMinutes = (minutes: number) => Math.ceil(Date.now() / 1_000 + 60 * minutes) * 1_000;
const statusOf = (answer: string) => Number(answer.slice(9, 12));

async function wipe({ file, nginx }: NginxMapRig): Promise<void> {
  await writeFile(file, "");
  await rm(`${file}.mode`, { force: true });
  process.kill(nginx.pid, "SIGHUP");
}

edgeContract("nginx with a map file", async () => {
  const rig = await openNginxMapRig();
  const edge = rig.open();
  return {
    edge,
    async read(asked) {
      const found = new Map<string, number>();
      for (const key of asked) {
        const [, held, end] = /^(\d)\|(\d+) /.exec(await rig.peek(key.replace("::/64", "::99"))) ?? [];
        if (held === "1") found.set(key, Number(end) * 1_000);
      }
      return found;
    },
    async plantForeign() {
      await appendFile(rig.file, "192.0.2.66 true; # the neighbour's\n");
      process.kill(rig.nginx.pid, "SIGHUP");
      await vi.waitFor(async () => expect(await rig.peek("192.0.2.66")).toBe("1|true"), patience);
      return "192.0.2.66";
    },
    async hasForeign(key) {
      const line = "192.0.2.66 true; # the neighbour's\n";
      return (await readFile(rig.file, "utf8")).includes(line) && (await rig.peek(key)) === "1|true";
    },
    wipe: () => wipe(rig),
    reopen: async () => rig.open(),
    async close() {
      await edge.close();
      await rig.close();
    },
  };
});

describe("nginx that includes what was rendered", { timeout: 60_000 }, () => {
  let rig: NginxMapRig;
  let edge: Edge;

  beforeAll(async () => {
    rig = await openNginxMapRig("gzip on; gzip_types *; charset utf-8; add_header X-Theirs yes; expires 1h;");
  });
  afterAll(() => rig.close());
  beforeEach(async () => {
    await wipe(rig);
    edge = rig.open();
    await edge.current([], signal());
    await edge.setMode("on", signal());
    rig.app.seen.length = 0;
  });
  afterEach(() => edge.close());

  const hold = (key: string, until = inMinutes(5)) =>
    edge.apply({ remove: [], put: [{ key, until }] }, signal());
  const untilStatus = (address: string, status: number) =>
    vi.waitFor(async () => expect(statusOf(await rig.ask(address))).toBe(status), patience);

  it("is accepted by nginx itself, with entries and without", async () => {
    const test = () => promisify(execFile)("nginx", ["-t", "-q", "-e", "stderr", "-c", rig.config]);
    await hold("203.0.113.7");
    await hold("2001:db8:1:2::/64");
    expect((await test()).stderr).toBe("");
    await wipe(rig);
    expect((await test()).stderr).toBe("");
  });

  it("a refusal is 429 with a date to come back at, not to be kept, and says nothing else", async () => {
    const until = inMinutes(5);
    await rig.reloaded(() => hold("203.0.113.7", until));
    for (const head of ["GET /", "POST /login?a=1", "DELETE /a/../b", "GET /_tidegate_held"]) {
      const answer = await rig.ask("203.0.113.7", head, ["Accept-Encoding: gzip"]);
      const [top = "", body] = answer.split("\r\n\r\n");
      const [status, ...lines] = top.split("\r\n");
      expect(status).toBe("HTTP/1.1 429 Too Many Requests");
      expect(body).toBe("<h1>Too Many Requests</h1>");
      expect(lines.filter((line) => !/^(?:Server|Date|Connection): /.test(line)).sort()).toEqual([
        "Cache-Control: no-store",
        "Content-Length: 26",
        "Content-Type: text/html",
        `Retry-After: ${new Date(until).toUTCString()}`,
      ]);
    }
    expect(await rig.ask("203.0.113.7", "HEAD /")).toMatch(/^HTTP\/1\.1 429 [\s\S]*\r\n\r\n$/);
    expect(rig.app.seen).toEqual([]);
  });

  it("only who is held is refused, and nobody can ask for a refusal", async () => {
    await hold("203.0.113.7");
    await rig.reloaded(() => hold("2001:db8:1:2::/64"));
    expect(statusOf(await rig.ask("203.0.113.7"))).toBe(429);
    expect(statusOf(await rig.ask("2001:db8:1:2::1"))).toBe(429);
    expect(statusOf(await rig.ask("2001:db8:1:2:ffff:ffff:ffff:ffff"))).toBe(429);
    expect(statusOf(await rig.ask("::ffff:203.0.113.7"))).toBe(429);
    for (const address of ["203.0.113.70", "203.0.113.6", "2001:db8:1:3::1", "2001:db8:1:1::1", "127.0.0.1"])
      expect(statusOf(await rig.ask(address)), address).toBe(200);
    expect(statusOf(await rig.ask("198.51.100.1", "GET /_tidegate_held"))).toBe(404);
  });

  it("an entry ends by itself, without a reload and with control gone", async () => {
    await hold("203.0.113.7", Date.now() + 3_000);
    await rig.reloaded(() => hold("203.0.113.8"));
    await edge.close();
    const before = await readFile(rig.file, "utf8");
    await untilStatus("203.0.113.7", 200);
    expect(await readFile(rig.file, "utf8")).toBe(before);
    expect(statusOf(await rig.ask("203.0.113.8"))).toBe(429);
  });

  it("compares every digit: before the end held, from the end on not", async () => {
    const now = Math.floor(Date.now() / 1_000);
    const ends = Array.from({ length: 10 }, (_, place) => [now + 10 ** place, now - 10 ** place]).flat();
    const tenDigits = ends.filter((end) => String(end).length === 10 && Math.abs(end - now) > 1);
    const more = [now + 120, now + 999_999, now - 120, 9_999_999_999, 1_000_000_000];
    const all = [...tenDigits, ...more].map((end, i) => ({ address: `198.51.100.${i}`, end }));
    const lines = all.map(({ address, end }) => `${address} "${end} some day";\n`);
    await writeFile(rig.file, [...lines, "198.51.100.200 7;\n", "198.51.100.201 99999999999;\n"].join(""));
    await rig.reloaded(() => process.kill(rig.nginx.pid, "SIGHUP"));
    for (const { address, end } of all)
      expect(await rig.peek(address), `${end} at ${now}`).toBe(`${end > now ? 1 : 0}|${end} some day`);
    expect(await rig.peek("198.51.100.200")).toBe("0|7");
    expect(await rig.peek("198.51.100.201")).toBe("0|99999999999");
  });

  it("what people put there for ever is refused, and its bytes are kept through every write", async () => {
    const theirs = "# caf\xe9: ours\r\n\t198.51.100.0/24   true ;\r\n2001:DB8:9::/48 true; 192.0.2.9 other;";
    await writeFile(rig.file, theirs, "latin1");
    await hold("203.0.113.7");
    await hold("203.0.113.8");
    await rig.reloaded(() => edge.apply({ remove: ["203.0.113.7"], put: [] }, signal()));
    const text = await readFile(rig.file, "latin1");
    expect(text.startsWith(`${theirs}\n# tidegate `)).toBe(true);
    expect((await edge.current([], signal())).foreign).toBe(3);
    expect(await rig.ask("198.51.100.77")).toContain("\r\nRetry-After: 60\r\n");
    expect(statusOf(await rig.ask("2001:db8:9:1::1"))).toBe(429);
    expect(statusOf(await rig.ask("192.0.2.9"))).toBe(200);
    expect((await readdir(dirname(rig.file))).sort()).toEqual([
      "held.conf",
      "held.conf.mode",
      "held.conf.told",
    ]);
  });

  it("an address whose hold ends stays held as long as a block around it", async () => {
    await writeFile(rig.file, "198.51.100.0/24 true;\n");
    const put = [
      { key: "198.51.100.7", until: Date.now() + 2_000 },
      { key: "2001:db8:1:2::7", until: Date.now() + 2_000 },
      { key: "2001:db8:1:2::/64", until: inMinutes(5) },
    ];
    await rig.reloaded(() => edge.apply({ remove: [], put }, signal()));
    await vi.waitFor(
      async () =>
        expect([...(await edge.current([], signal())).entries.keys()]).toEqual(["2001:db8:1:2::/64"]),
      patience,
    );
    expect(statusOf(await rig.ask("2001:db8:1:2::7"))).toBe(429);
    expect(statusOf(await rig.ask("198.51.100.7"))).toBe(429);
  });

  it("in shadow who would be refused passes with a mark, off passes without", async () => {
    await hold("203.0.113.7");
    const own = ["Tidegate-Edge: would-refuse", "X-Reject: 1"];
    const marks = async (address: string) => {
      rig.app.seen.length = 0;
      const status = statusOf(await rig.ask(address, "GET /", own));
      const headers = rig.app.seen[0]?.headers;
      return [status, headers?.["tidegate-edge"], headers?.["x-reject"]];
    };
    expect(await marks("203.0.113.8")).toEqual([200, undefined, undefined]);
    await rig.reloaded(() => edge.setMode("shadow", signal()));
    expect(await marks("203.0.113.7")).toEqual([200, "would-refuse", undefined]);
    expect(await marks("203.0.113.8")).toEqual([200, undefined, undefined]);
    await rig.reloaded(() => edge.setMode("off", signal()));
    expect(await marks("203.0.113.7")).toEqual([200, undefined, undefined]);
    await rig.reloaded(() => edge.setMode("on", signal()));
    expect(await marks("203.0.113.7")).toEqual([429, undefined, undefined]);
  });

  it("nothing that nginx could not read reaches the file", async () => {
    await hold("203.0.113.7");
    const before = await readFile(rig.file, "utf8");
    const keys = [
      "999.1.1.1",
      "1.2.3.4/33",
      "::ffff:203.0.113.7",
      "2001:DB8::1",
      "2001:db8::1/64",
      "1.2.3.4;",
      ":::",
    ];
    const until = inMinutes(5);
    const { refused } = await edge.apply(
      { remove: keys, put: keys.map((key) => ({ key, until })) },
      signal(),
    );
    expect(refused.map(({ key }) => key)).toEqual(keys);
    expect(await readFile(rig.file, "utf8")).toBe(before);
  });

  it("a lost file is noticed and written anew", async () => {
    await hold("203.0.113.7");
    const { epoch } = await edge.current([], signal());
    await rm(rig.file);
    const lost = await edge.current([], signal());
    expect(lost.epoch).not.toBe(epoch);
    expect(lost.entries.size).toBe(0);
    await hold("203.0.113.9");
    await untilStatus("203.0.113.9", 429);
    expect((await edge.current([], signal())).epoch).toBe(lost.epoch);
  });

  it("changes made at the same time all reach nginx", async () => {
    const slow = rig.open(1_500);
    await slow.current([], signal());
    const put = (i: number) =>
      slow.apply({ remove: [], put: [{ key: `203.0.113.${i}`, until: inMinutes(5) }] }, signal());
    await put(0);
    await Promise.all(Array.from({ length: 20 }, (_, i) => put(i + 1)));
    for (let i = 0; i <= 20; i++) await untilStatus(`203.0.113.${i}`, 429);
    await slow.close();
  });

  it("what nginx did not take, for a line it can not read, is an error until it is mended, then told", async () => {
    await hold("203.0.113.7");
    await untilStatus("203.0.113.7", 429);
    const bad = "198.51.100.9 oops this is no line\n";
    const spoilt = `${bad}${await readFile(rig.file, "utf8")}`;
    await writeFile(rig.file, spoilt);
    const untaken = expect.objectContaining({
      code: "TG_EDGE_SETUP",
      edge: "web",
      help: expect.stringContaining("nginx -t"),
    });
    await expect(hold("203.0.113.8")).rejects.toEqual(untaken);
    await expect(edge.current([], signal())).rejects.toEqual(untaken);
    const next = rig.open();
    await expect(next.current([], signal())).rejects.toEqual(untaken);
    await next.close();
    expect(statusOf(await rig.ask("203.0.113.7"))).toBe(429);
    expect(statusOf(await rig.ask("203.0.113.8"))).toBe(200);

    const text = await readFile(rig.file, "utf8");
    expect(text.startsWith(bad)).toBe(true);
    await writeFile(rig.file, text.replace(bad, ""));
    const { entries } = await edge.current([], signal());
    expect([...entries.keys()]).toEqual(["203.0.113.7", "203.0.113.8"]);
    await untilStatus("203.0.113.8", 429);
  });

  it("a reload by hand after a bad line is mended counts as told", async () => {
    const bad = "198.51.100.9 oops\n";
    await writeFile(rig.file, bad);
    await expect(hold("203.0.113.7")).rejects.toMatchObject({ code: "TG_EDGE_SETUP" });
    const text = await readFile(rig.file, "utf8");
    await writeFile(rig.file, text.replace(bad, ""));
    await rig.reloaded(() => process.kill(rig.nginx.pid, "SIGHUP"));
    expect([...(await edge.current([], signal())).entries.keys()]).toEqual(["203.0.113.7"]);
    expect(statusOf(await rig.ask("203.0.113.7"))).toBe(429);
    expect(await readFile(`${rig.file}.told`, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
  });

  it("what a process wrote and did not live to tell, the next one tells", async () => {
    await hold("203.0.113.7");
    await untilStatus("203.0.113.7", 429);
    const text = await readFile(rig.file, "utf8");
    await writeFile(rig.file, text.replace("203.0.113.7 ", "203.0.113.8 "));
    const next = rig.open();
    expect([...(await next.current([], signal())).entries.keys()]).toEqual(["203.0.113.8"]);
    await untilStatus("203.0.113.8", 429);
    await next.close();
  });
});

describe("nginx that can not be told", () => {
  let folder: string;
  let edge: Edge;
  let file: string;
  let pidFile: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "tidegate-held-"));
    file = join(folder, "held.conf");
    pidFile = join(folder, "nginx.pid");
    edge = nginxMapEdge({ name: "web", file, pidFile, reloadMs: 10, maxEntries: 10 });
  });
  afterEach(async () => {
    await edge.close();
    await rm(folder, { recursive: true, force: true });
  });

  const put = (at = edge) =>
    at.apply({ remove: [], put: [{ key: "203.0.113.7", until: inMinutes(5) }] }, signal());
  const unreached = expect.objectContaining({ code: "TG_EDGE_UNREACHED", edge: "web", transient: true });

  it("is out of reach, whatever stands in the file", async () => {
    for (const pid of [undefined, "", "no number", "0", "-1", "1 2", "4194305"]) {
      if (pid !== undefined) await writeFile(pidFile, pid);
      await expect(put()).rejects.toEqual(unreached);
      await expect(edge.current([], signal())).rejects.toEqual(unreached);
      await expect(edge.setMode("off", signal())).rejects.toEqual(unreached);
    }
  });

  it("another program under nginx's old number is not signalled", async () => {
    const stranger = spawn("sleep", ["60"]);
    await once(stranger, "spawn");
    await writeFile(pidFile, `${stranger.pid}\n`);
    await expect(put()).rejects.toEqual(unreached);
    await expect(put()).rejects.toThrow(/is not nginx/);
    // A signal would have been there before this one.
    stranger.kill("SIGTERM");
    expect(await once(stranger, "exit")).toEqual([null, "SIGTERM"]);
  });

  it("a folder that is not there is said to be missing", async () => {
    const lost = nginxMapEdge({
      name: "web",
      file: join(folder, "no/held.conf"),
      pidFile,
      reloadMs: 10,
      maxEntries: 10,
    });
    await expect(put(lost)).rejects.toEqual(
      expect.objectContaining({ code: "TG_EDGE_SETUP", transient: false }),
    );
    await lost.close();
  });
});
