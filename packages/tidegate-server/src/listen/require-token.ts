import { ConfigError } from "tidegate";
import { peerTest } from "tidegate/http";
import type { Secret } from "../secret.js";
import type { ListenAddress } from "../settings.js";

const isLoopback = peerTest(["loopback"]);

/** A listener that others can reach needs a token: throws when there is none. */
export function requireToken(options: {
  readonly name: string;
  readonly address: ListenAddress;
  readonly token: Secret | undefined;
}): void {
  const { name, address, token } = options;
  if (token !== undefined || address.host === "localhost" || isLoopback(address.host)) return;
  throw new ConfigError(
    "TG_PUBLIC_BIND",
    `listen.${name}`,
    `${address.host} can be reached from other machines, and ${name} has no token.`,
    `Set ${name}.token, e.g. token: "\${TIDEGATE_${name.toUpperCase()}_TOKEN}", or listen on 127.0.0.1.`,
  );
}
