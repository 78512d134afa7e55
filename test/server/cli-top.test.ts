import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { startRedis } from "../servers/index.js";
import { type Ran, type RunOptions, tidegate } from "./cli-rig.js";
import { startWhole, visit } from "./live-rig.js";

const soon = { timeout: 15_000, interval: 50 };
const esc = "\u001b";

/** `tidegate top` on a terminal, and what stands there now. */
function watching(url: string, args: readonly string[] = [], options: RunOptions = {}) {
  let written = "";
  let press: (key: string) => void = () => {};
  let isOver = false;
  const ran: Promise<Ran> = tidegate(["top", "--url", url, "--every", "1", ...args], {
    isTTY: true,
    onWrite: (text) => {
      written += text;
    },
    keys(listener) {
      press = listener;
      return () => {
        press = () => {};
      };
    },
    ...options,
  });
  void ran.then(() => {
    isOver = true;
  });
  onTestFinished(() => press("q"));
  return {
    ran,
    isOver: () => isOver,
    written: () => written,
    /** The last frame, without colours. */
    screen: () =>
      (written.split(`${esc}[H`).at(-1) ?? "").replaceAll(new RegExp(`${esc}\\[[?\\d;]*[A-Za-z]`, "g"), ""),
    press: (key: string) => press(key),
  };
}

describe("top on a terminal", () => {
  it("shows live what passes, by rule and client, who is held, the edges and the store; q quits", async () => {
    const { urls, ask } = await startWhole();
    const top = watching(urls.admin);
    await expect.poll(() => top.screen(), soon).toMatch(/^tidegate top {2}http:\S+ {2}live {2}q quits\r\n/);
    await expect
      .poll(() => top.screen(), soon)
      .toMatch(/store memory · policy version 1 · 0 held · edges: cdn on/);
    await visit(urls.proxy, "203.0.113.7", 5);
    await expect.poll(() => top.screen(), soon).toMatch(/^203\.0\.113\.7 +5 +2\r?$/m);
    await expect
      .poll(() => top.screen(), soon)
      .toMatch(
        /^RULE +JUDGED\/S +REFUSED\/S +SHADOW\/S +LAST MINUTE\r?\nreq\/ip +\d+ +\d+ +\d+ +[▁-█]*[▂-█]/m,
      );
    await expect
      .poll(() => top.screen(), soon)
      .toMatch(/^allowed \d+\/s {2}refused \d+\/s {2}shadow 0\/s {2}[▁-█]+\r?$/m);
    await expect
      .poll(() => top.screen(), soon)
      .toMatch(/^HELD +BY RULE +SINCE +ENDS\r?\n203\.0\.113\.7 +req\/ip +/m);
    await ask("POST", "/v1/edges/cdn/mode", { mode: "off" });
    await expect.poll(() => top.screen(), soon).toContain("edges: cdn off");
    top.press("q");
    expect(await top.ran).toMatchObject({ code: 0, stderr: "" });
    expect(top.written().endsWith(`${esc}[?7h${esc}[?25h${esc}[?1049l`)).toBe(true);
  });

  it("is drawn over what was there, never on an empty screen, and never longer than the terminal", async () => {
    const { urls } = await startWhole();
    for (let i = 0; i < 30; i++) await visit(urls.proxy, `203.0.113.${i}`, 1);
    const top = watching(urls.admin);
    await expect.poll(() => top.screen(), soon).toMatch(/live.*203\.0\.113\./s);
    expect(top.written()).not.toContain(`${esc}[2J`);
    for (const frame of top.written().split(`${esc}[H`).slice(1))
      expect(frame.split("\r\n").length).toBeLessThanOrEqual(20);
    top.press("\u0003");
    expect((await top.ran).code).toBe(0);
  });

  it("says that the connection is lost, and goes on by itself when it is back", async () => {
    const { urls } = await startWhole();
    const wire = await cuttable(urls.admin);
    const top = watching(wire.url);
    await expect.poll(() => top.screen(), soon).toContain("  live  ");
    await wire.cut();
    await expect.poll(() => top.screen(), soon).toContain("connection lost, retrying");
    expect(top.screen()).toContain("policy version 1");
    expect(top.isOver()).toBe(false);
    await wire.mend();
    await expect.poll(() => top.screen(), soon).toContain("  live  ");
    await visit(urls.proxy, "203.0.113.7", 4);
    await expect.poll(() => top.screen(), soon).toMatch(/^203\.0\.113\.7 +4 +1\r?$/m);
  });

  it("asks now and then where events are not to be had", async () => {
    const { urls } = await startWhole();
    const listening = await Promise.all(Array.from({ length: 50 }, () => fetch(`${urls.admin}/v1/events`)));
    onTestFinished(() => Promise.all(listening.map(({ body }) => body?.cancel())).then(() => {}));
    const top = watching(urls.admin);
    await expect.poll(() => top.screen(), soon).toContain("no events to be had, asking now and then");
    await visit(urls.proxy, "203.0.113.7", 5);
    await expect.poll(() => top.screen(), soon).toMatch(/^203\.0\.113\.7 +5 +2\r?$/m);
    await expect.poll(() => top.screen(), soon).toMatch(/^allowed \d+\/s/m);
  });

  it("makes a store that is gone unmissable", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const { urls } = await startWhole(`store: { kind: redis, url: "${redis.url}" }\n`);
    const top = watching(urls.admin);
    await expect.poll(() => top.screen(), soon).toContain("store redis");
    await redis.kill();
    await expect
      .poll(async () => {
        await visit(urls.proxy, "203.0.113.7", 1);
        return top.screen();
      }, soon)
      .toMatch(/^STORE DEGRADED: .*\r\nDATA OUT OF REACH: /m);
    expect(top.written()).toContain(`${esc}[31mSTORE DEGRADED`);
  }, 40_000);

  it("says what is wrong, and leaves the terminal alone, when there is no server or no token", async () => {
    const { urls } = await startWhole('admin: { token: "0123456789abcdef0123456789abcdef" }\n');
    const refused = watching(urls.admin);
    expect(await refused.ran).toMatchObject({ code: 4, stderr: expect.stringContaining("wants a token") });
    const nobody = watching("http://127.0.0.1:1");
    expect(await nobody.ran).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("can not be reached"),
    });
    for (const { written } of [refused, nobody]) expect(written()).not.toContain(`${esc}[?1049h`);
  });

  it("is shown once where it is no terminal, or one that can not be drawn on", async () => {
    const { urls } = await startWhole();
    await visit(urls.proxy, "203.0.113.7", 5);
    const once = /^CLIENT +REQUESTS +REFUSED\n203\.0\.113\.7 +5 +2\nLately/;
    for (const [args, options] of [
      [[], { isTTY: false }],
      [["--once"], {}],
      [[], { env: { TERM: "dumb" } }],
    ] as const)
      expect((await watching(urls.admin, args, options).ran).stdout).toMatch(once);
    const { stdout } = await watching(urls.admin, ["--json"]).ran;
    expect(JSON.parse(stdout)).toMatchObject([{ key: "203.0.113.7" }]);
  });

  it("shows what strangers wrote without its control characters", async () => {
    const { urls, ask } = await startWhole();
    const name = JSON.stringify(`evil ${esc}]0;x\u0007${esc}[2J`);
    const { status } = await ask("POST", "/v1/policy", {
      text: `rules:\n  - { name: ${name}, by: ip, limits: [3 per hour] }\n`,
    });
    const top = watching(urls.admin);
    await expect.poll(() => top.screen(), soon).toContain("  live  ");
    if (status === 201) {
      await visit(urls.proxy, "203.0.113.7", 2);
      await expect.poll(() => top.screen(), soon).toContain("evil \\u001b");
    }
    expect(top.written()).not.toContain(`${esc}]0`);
    expect(top.written()).not.toContain(`${esc}[2J`);
  });
});

/** A wire to the server that can be cut. */
async function cuttable(url: string): Promise<{ url: string; cut(): Promise<void>; mend(): Promise<void> }> {
  const { port } = new URL(url);
  const sockets = new Set<{ destroy(): unknown }>();
  let server: Server | undefined;
  let own = 0;
  async function mend(): Promise<void> {
    server = createServer((socket) => {
      const there = connect(Number(port), "127.0.0.1");
      for (const each of [socket, there]) {
        sockets.add(each);
        each.on("error", () => {});
        each.once("close", () => {
          sockets.delete(each);
          socket.destroy();
          there.destroy();
        });
      }
      socket.pipe(there).pipe(socket);
    });
    await new Promise<void>((resolve) => server?.listen(own, "127.0.0.1", resolve));
    own = (server.address() as AddressInfo).port;
  }
  async function cut(): Promise<void> {
    const closed = new Promise((resolve) => server?.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }
  await mend();
  onTestFinished(cut);
  return { url: `http://127.0.0.1:${own}`, cut, mend };
}
