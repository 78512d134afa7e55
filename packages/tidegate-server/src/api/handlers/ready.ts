import type { Handler } from "../handler.js";
import type { ReadyAnswer } from "../types.js";

export const ready: Handler<ReadyAnswer> = ({ missing }) => {
  const reasons = missing();
  return reasons.length === 0
    ? { body: { status: "ready", reasons } }
    : { status: 503, body: { status: "not ready", reasons } };
};
