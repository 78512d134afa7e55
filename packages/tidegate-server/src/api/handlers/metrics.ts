import type { Handler } from "../handler.js";

export const metrics: Handler<string> = async ({ metricsText, registry }) => ({
  body: await metricsText(),
  type: registry.contentType,
});
