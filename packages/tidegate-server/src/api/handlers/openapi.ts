import type { Handler } from "../handler.js";

export const openapi: Handler = async ({ openapi }) => ({ body: await openapi() });
