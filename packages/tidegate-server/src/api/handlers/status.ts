import type { Handler } from "../handler.js";
import type { StatusAnswer } from "../types.js";

export const status: Handler<StatusAnswer> = ({ status, missing, gate, data, customers }) => {
  const reasons = missing();
  return {
    body: {
      ...status(),
      ready: { status: reasons.length === 0 ? "ready" : "not ready", reasons },
      data: { kind: data.kind },
      metrics: gate.metrics(),
      ...(customers.status && { customers: customers.status() }),
    },
  };
};
