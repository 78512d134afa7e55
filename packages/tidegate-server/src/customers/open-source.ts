import { ConfigError } from "tidegate";
import type { CustomerSourceSettings } from "../settings.js";
import type { CustomerSource } from "./customer-source.js";
import { httpSource } from "./http-source.js";
import { postgresSource } from "./postgres-source.js";
import { sqliteSource } from "./sqlite-source.js";

/** Asks nobody yet: whether the source answers is found out round by round. */
export async function openSource(settings: CustomerSourceSettings): Promise<CustomerSource> {
  if (settings.kind === "http") {
    if (!isPlainAddress(settings.url))
      throw unusable(
        "url",
        "this is not an http address without user and password.",
        "Put a secret into token.",
      );
    return httpSource(settings);
  }
  const { select, update } = settings;
  const url = settings.url.reveal();
  if (/^postgres(ql)?:\/\//i.test(url)) return postgresSource({ url, select, update });
  if (/^file:./.test(url)) return sqliteSource({ url, select, update });
  throw unusable("url", "no such database is known.", "Write postgres://… or file:customers.db.");
}

function isPlainAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}

function unusable(option: string, message: string, help: string): ConfigError {
  return new ConfigError("TG_CUSTOMERS_SOURCE", `customers.source.${option}`, message, help);
}
