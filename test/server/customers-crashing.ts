import { createGate } from "tidegate";
import { keepCustomers } from "../../packages/tidegate-server/src/customers/keep-customers.js";
import { sqliteSource } from "../../packages/tidegate-server/src/customers/sqlite-source.js";
import { openEmbeddedData } from "../../packages/tidegate-server/src/data/embedded-data.js";

/** What the child is told on its command line. */
export interface Orders {
  readonly dir: string;
  readonly url: string;
  readonly select: string;
  readonly update: string;
  readonly dieWhen: "noted" | "in the primary database" | "in both places";
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("unreachable");
}

const { dir, url, select, update, dieWhen } = JSON.parse(process.argv[2] as string) as Orders;
const data = await openEmbeddedData(dir);
const { directory, pending } = data;
const gate = createGate({
  rules: [{ name: "api", by: "customer", limits: "tier" }],
  tiers: { free: ["2 per hour"], pro: ["4 per hour"] },
  directory,
  onWarning: () => {},
});
const source = await sqliteSource({ url, select, update });
const quiet = (): void => {};
let isArmed = false;

const book = await keepCustomers({
  everyMs: 3_600_000,
  gate,
  log: { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
  source: {
    ...source,
    async write(id, record) {
      if (dieWhen === "noted") die();
      await source.write(id, record);
      if (dieWhen === "in the primary database") die();
    },
  },
  data: {
    kind: data.kind,
    pending,
    putCustomers: data.putCustomers,
    directory: {
      ...directory,
      async putCustomer(id, record) {
        await directory.putCustomer(id, record);
        if (isArmed && dieWhen === "in both places") die();
      },
    },
  },
});
isArmed = true;
await book.setTier("a", "pro");
