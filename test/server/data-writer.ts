import { once } from "node:events";
import { TidegateError } from "tidegate";
import { openEmbeddedData } from "../../packages/tidegate-server/src/data/embedded-data.js";
import type { Data } from "../../packages/tidegate-server/src/data.js";

export interface WriterOrders {
  readonly dir: string;
  /** The number of the first write. */
  readonly from: number;
}

/** One round of writes that was answered wholly. */
export interface Written {
  readonly i: number;
  readonly address: string;
  readonly version: number;
  readonly audit: number;
  readonly pending: number;
}

/** What is said, and all that is said, by one that does not get the data. */
export interface Refused {
  readonly refused: string;
}

async function opened(dir: string): Promise<Data> {
  try {
    return await openEmbeddedData(dir);
  } catch (error) {
    const refused: Refused = { refused: error instanceof TidegateError ? error.code : String(error) };
    process.stdout.write(`${JSON.stringify(refused)}\n`);
    process.exit(1);
  }
}

/** Writes without end. Each answered round is a line, written out before the next begins. */
async function write({ dir, from }: WriterOrders): Promise<never> {
  const data = await opened(dir);
  for (let i = from; ; i++) {
    const address = `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
    await data.directory.put("blocklist", { address, who: "writer", why: `write ${i}` });
    await data.directory.putCustomer(`c${i}`, { tier: "pro", limits: new Map([[60, i]]) });
    const newest = await data.policies.newest();
    const version = await data.policies.add({ text: `text ${i}`, who: "writer", source: "api" }, newest?.id);
    const audit = await data.audit.add({ who: "writer", what: "write", after: i });
    const pending = await data.pending.add({ customer: `c${i}` });
    const written: Written = {
      i,
      address,
      version: version?.id as number,
      audit: audit.id,
      pending: pending.id,
    };
    process.stdout.write(`${JSON.stringify(written)}\n`);
  }
}

process.send?.("ready");
const [orders] = await once(process, "message");
await write(orders as WriterOrders);
