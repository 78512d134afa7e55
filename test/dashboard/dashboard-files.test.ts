import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { dashboardFiles } from "../../packages/tidegate-server/src/api/dashboard-files.js";
import { type Admin, startAdmin } from "../server/api-serving.js";
import { temporaryFolder } from "../server/running.js";

async function started(): Promise<Admin> {
  const admin = await startAdmin({ token: "a-token-of-the-admin" });
  onTestFinished(() => admin.close());
  return admin;
}

/** As it is written here: no client tidies it. */
function status(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host: "127.0.0.1", port, path }, (res) => resolve(res.resume().statusCode))
      .on("error", reject)
      .end();
  });
}

const listed = (page: string): string[] =>
  [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string);

describe("the dashboard's files", () => {
  it("are served to anybody: the page is asked for anew each time, what it names is kept for good", async () => {
    const { ask } = await started();
    const page = await ask("GET", "/");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("cache-control")).toBe("no-cache");
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self';");
    expect(page.headers.get("x-frame-options")).toBe("DENY");
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    const named = listed(page.text);
    expect(named.length).toBeGreaterThanOrEqual(3);
    const types: (string | null)[] = [];
    for (const path of named) {
      const file = await ask("GET", path);
      expect([path, file.status]).toEqual([path, 200]);
      expect(file.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      types.push(file.headers.get("content-type"));
    }
    expect(types.sort()).toEqual([
      "image/svg+xml",
      "text/css; charset=utf-8",
      "text/javascript; charset=utf-8",
    ]);
    expect((await ask("HEAD", "/")).status).toBe(200);
    expect((await ask("GET", "/v1/status")).headers.get("cache-control")).toBe("no-store");
  });

  it("load in less than 80 kB", async () => {
    const { ask } = await started();
    const page = await ask("GET", "/");
    const texts = [page.text];
    for (const path of listed(page.text)) texts.push((await ask("GET", path)).text);
    const bytes = texts.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
    expect(bytes).toBeLessThan(80_000);
    const packed = await fetch((await started()).url, { headers: { "accept-encoding": "gzip" } });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
  });

  it("are all there is: no path leads out of them", async () => {
    const { port } = await started();
    for (const path of [
      "/assets/../index.html",
      "/assets/..%2findex.html",
      "/assets/%2e%2e/index.html",
      "/assets/..%5c..%5cpackage.json",
      "/assets/..%2f..%2f..%2fpackage.json",
      "/../../package.json",
      "/assets/",
      "/assets/.built-from",
      "/.built-from",
      "/index.html",
      "/assets//etc/passwd",
      "/assets/__proto__",
      "/assets/constructor",
    ])
      expect([path, await status(port, path)]).toEqual([path, 404]);
  });

  it("that were not built are a hint how to, and are there once they are", async () => {
    const folder = temporaryFolder();
    const file = dashboardFiles(folder);
    const hint = file("/", undefined);
    expect(hint?.status).toBe(404);
    expect(await hint?.text()).toContain("npm run build");
    expect(file("/assets/a.js", undefined)).toBeUndefined();
    mkdirSync(join(folder, "assets"));
    writeFileSync(join(folder, "assets", "a.js"), "1;");
    writeFileSync(join(folder, "index.html"), "<p>hello</p>");
    expect(await file("/", undefined)?.text()).toBe("<p>hello</p>");
    expect(await file("/assets/a.js", "br, gzip;q=0")?.text()).toBe("1;");
    expect(file("/assets/a.js", "gzip, br")?.headers.get("content-encoding")).toBe("gzip");
    expect(readdirSync(folder).sort()).toEqual(["assets", "index.html"]);
  });
});
