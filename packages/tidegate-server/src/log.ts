import type { Logger } from "pino";

/** Structured lines: `log.info({ upstream }, "words")`. Whatever a client sent stands in a field, never in the words. */
export type Log = Pick<Logger, "trace" | "debug" | "info" | "warn" | "error">;
