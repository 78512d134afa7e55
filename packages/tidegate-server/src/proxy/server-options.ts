import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import type { ProxySettings } from "../settings.js";
import { ProxyResponse } from "./proxy-response.js";

/** How node:http is to listen for the proxy: strictly, and not for ever. */
export function serverOptions(
  settings: ProxySettings,
): ServerOptions<typeof IncomingMessage, typeof ServerResponse> {
  const { maxHeaderBytes, headersTimeoutMs, requestTimeoutMs, keepAliveMs } = settings;
  return {
    ServerResponse: ProxyResponse,
    insecureHTTPParser: false,
    // It is refused later on, once the gate has judged it.
    requireHostHeader: false,
    joinDuplicateHeaders: false,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.max(100, Math.min(5000, Math.floor(headersTimeoutMs / 4))),
    noDelay: true,
  };
}
