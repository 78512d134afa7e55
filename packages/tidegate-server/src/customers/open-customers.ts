import type { CustomerSourceSettings } from "../settings.js";
import type { CustomerBook, CustomersStatus } from "./customer-book.js";
import { type KeepCustomersOptions, keepCustomers } from "./keep-customers.js";
import { openSource } from "./open-source.js";

export type { CustomerBook } from "./customer-book.js";

export interface OpenCustomersOptions extends Pick<KeepCustomersOptions, "gate" | "data" | "log"> {
  /** Without one customers live in the directory alone. */
  readonly source?: CustomerSourceSettings;
}

export async function openCustomers({
  source,
  gate,
  data,
  log,
}: OpenCustomersOptions): Promise<CustomerBook> {
  if (source === undefined) return bookOf(gate);
  return keepCustomers({ source: await openSource(source), everyMs: source.everyMs, gate, data, log });
}

function bookOf({ customers }: KeepCustomersOptions["gate"]): CustomerBook {
  const status: CustomersStatus = { pulled: 0, rejectedRows: 0, unknownTiers: 0, pending: 0 };
  return {
    get: (id) => customers.get(id),
    async setTier(id, tier) {
      await customers.setTier(id, tier);
      return { state: "done" };
    },
    async setLimits(id, limits) {
      await customers.setLimits(id, limits);
      return { state: "done" };
    },
    status: () => status,
    close: async () => {},
  };
}
