import type { IdentifySettings } from "../settings.js";
import { parseHeaderName } from "./addresses.js";
import type { FileReader } from "./file-reader.js";

/** Who is logged in, in headers of trusted proxies; and the name a login claims, in a header or the body. */
export function readIdentify(trustedProxies: readonly string[], reader: FileReader): IdentifySettings {
  const { account, ...given } = reader.section("identify");
  const user = readHeader("user", given.user, reader);
  const customer = readHeader("customer", given.customer, reader);
  const believed = { ...(user !== undefined && { user }), ...(customer !== undefined && { customer }) };
  // Callers of the decision service are believed by decide.peers.
  const isProxied = reader.section("listen").proxy !== false;
  const isTold = Object.keys(believed).length > 0;
  if (isTold && isProxied && trustedProxies.length === 0 && reader.isSound("trustedProxies")) {
    reader.warn(["identify"], {
      code: "TG_IDENTIFY_UNTRUSTED",
      message: "These headers are believed from trusted proxies only, and no proxy is trusted.",
      help: "Name the proxy that sets them in trustedProxies, or drop user and customer from identify.",
    });
  }
  const claimed = typeof account === "object" ? account : readHeader("account", account, reader);
  return { ...believed, ...(claimed !== undefined && { account: claimed }) };
}

function readHeader(fact: string, text: string | undefined, reader: FileReader): string | undefined {
  const name = text === undefined ? undefined : parseHeaderName(text);
  if (text !== undefined && name === undefined) {
    const other = fact === "account" ? ", or the field of the login form: { field: email }" : "";
    reader.refuse(["identify", fact], {
      is: "is not the name of a header.",
      help: `Write one such as ${fact === "account" ? "X-Login-Name" : "X-User-Id"}${other}.`,
    });
  }
  return name;
}
