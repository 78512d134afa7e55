import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openEmbeddedData } from "../../packages/tidegate-server/src/data/embedded-data.js";
import type { Orders } from "./customers-crashing.js";
import { opened, sqlitePrimary } from "./customers-support.js";
import { temporaryFolder } from "./running.js";

const script = fileURLToPath(new URL("./customers-crashing.ts", import.meta.url));
const tsconfig = fileURLToPath(new URL("../../tsconfig.test.json", import.meta.url));

it.each<[Orders["dieWhen"], { primary: string; here: string }]>([
  ["noted", { primary: "free", here: "free" }],
  ["in the primary database", { primary: "pro", here: "free" }],
  ["in both places", { primary: "pro", here: "pro" }],
])(
  "a process killed when a change is %s leaves two places that agree after the next start",
  async (dieWhen, left) => {
    const dir = temporaryFolder();
    const file = join(temporaryFolder(), "customers.db");
    const primary = sqlitePrimary(file);
    await primary.put("a", "free");
    const { settings } = primary;
    if (settings.kind !== "sql") throw new Error("a file");
    const { select, update } = settings;
    const orders: Orders = { dir, url: settings.url.reveal(), select, update, dieWhen };
    const child = spawn(process.execPath, ["--import", "tsx", script, JSON.stringify(orders)], {
      env: { ...process.env, TSX_TSCONFIG_PATH: tsconfig },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const [, signal] = await once(child, "exit");
    expect(signal).toBe("SIGKILL");

    const data = await openEmbeddedData(dir);
    expect(await data.pending.all()).toMatchObject([{ customer: "a", tier: "pro" }]);
    expect((await data.directory.customer("a"))?.tier).toBe(left.here);
    expect((await primary.get("a"))?.tier).toBe(left.primary);
    await data.close();

    const again = await opened(settings, dir);
    expect((await primary.get("a"))?.tier).toBe("pro");
    expect(await again.book.get("a")).toEqual({ tier: "pro" });
    expect(await again.data.pending.all()).toEqual([]);
  },
);
