import type { Handler } from "../handler.js";
import type { HealthAnswer } from "../types.js";

export const health: Handler<HealthAnswer> = () => ({ body: { status: "alive" } });
