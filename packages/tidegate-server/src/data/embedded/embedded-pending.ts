import type { PendingCustomer, PendingCustomers } from "../../data.js";
import type { Database } from "./database.js";

export function embeddedPending(database: Database, now: () => number): PendingCustomers {
  return {
    async add(write) {
      const text = JSON.stringify({ ...write, at: now() });
      const { id } = database.run("INSERT INTO pending_customers (write) VALUES (?)", text);
      return { ...JSON.parse(text), id };
    },
    all: async () =>
      database
        .rows<{ id: number; write: string }>("SELECT id, write FROM pending_customers ORDER BY id")
        .map(({ id, write }): PendingCustomer => ({ ...JSON.parse(write), id })),
    async done(id) {
      database.run("DELETE FROM pending_customers WHERE id = ?", id);
    },
  };
}
