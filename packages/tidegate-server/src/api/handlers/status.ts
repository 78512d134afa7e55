import type { Handler } from "../handler.js";
import { readiness } from "../readiness.js";
import type { StatusAnswer } from "../types.js";

export const status: Handler<StatusAnswer> = async ({ status, gate, data, customers }) => {
  const reported = await status();
  const { notReady: _, metrics = gate.metrics(), ...rest } = reported;
  const ofCustomers = customers.status?.();
  return {
    body: {
      ...rest,
      ready: readiness(reported),
      data: { kind: data.kind },
      metrics,
      ...(ofCustomers?.source !== undefined && { customers: ofCustomers }),
    },
  };
};
