import type { IncomingMessage } from "node:http";
import type { Subject } from "tidegate";
import { basicUser, clientResolver, pathOf } from "tidegate/http";
import type { Settings } from "../settings.js";
import { factMissing, QuestionError } from "./problems.js";

export type AskingProxy = "nginx" | "caddy" | "traefik";

/** In which headers each proxy tells of its client's request; names in lower case. */
const tells: Readonly<Record<AskingProxy, { readonly uri: string; readonly method: string }>> = {
  nginx: { uri: "x-original-uri", method: "x-original-method" },
  caddy: { uri: "x-forwarded-uri", method: "x-forwarded-method" },
  traefik: { uri: "x-forwarded-uri", method: "x-forwarded-method" },
};

/** Whose query names whom: whatever a client's own query appends comes later and says nothing. */
export function proxyNamed(url: string): AskingProxy | undefined {
  const [path = "", query = ""] = url.split("?", 2) as [string, string?];
  const named =
    path === "/v1/auth" ? (new URLSearchParams(query).get("for") ?? "") : path.slice("/v1/auth/".length);
  return Object.hasOwn(tells, named) ? (named as AskingProxy) : undefined;
}

/** The request a proxy asks about, from the headers it sets. Throws `QuestionError` where it left one out. */
export function forwardFacts({
  trustedProxies,
  clientIpHeader,
  identify,
}: Pick<Settings, "trustedProxies" | "clientIpHeader" | "identify">): (
  req: IncomingMessage,
  proxy: AskingProxy,
) => Subject {
  const resolve = clientResolver({ trustedProxies, clientIpHeader });
  /** A question has no body, so only a header can tell. */
  const claimed = typeof identify.account === "string" ? identify.account : undefined;

  /** The address the proxy was called from: as nginx says it, or the last hop it wrote itself. */
  function clientOf(header: (name: string) => string | undefined, proxy: AskingProxy): string {
    const real = proxy === "nginx" ? header("x-real-ip") : undefined;
    if (real !== undefined) return resolve(real.trim(), header);
    const hops = header("x-forwarded-for");
    if (hops === undefined)
      throw new QuestionError(factMissing(proxy === "nginx" ? "X-Real-IP" : "X-Forwarded-For"));
    const comma = hops.lastIndexOf(",");
    const before = comma < 0 ? undefined : hops.slice(0, comma);
    return resolve(hops.slice(comma + 1).trim(), (name) =>
      name === "x-forwarded-for" ? before : header(name),
    );
  }

  return ({ headers }, proxy) => {
    const sent = (name: string): string | undefined => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    };
    const uri = sent(tells[proxy].uri);
    if (uri === undefined) throw new QuestionError(factMissing(headerName(tells[proxy].uri)));
    const method = sent(tells[proxy].method);
    if (method === undefined) throw new QuestionError(factMissing(headerName(tells[proxy].method)));
    const host = sent("x-forwarded-host") ?? sent("host") ?? "";
    return {
      ip: clientOf(sent, proxy),
      method,
      host,
      path: pathOf(uri),
      ignoresCase: true,
      header: (name) => (name.toLowerCase() === "host" ? host : sent(name.toLowerCase())),
      user: identify.user && sent(identify.user.toLowerCase()),
      customer: identify.customer && sent(identify.customer.toLowerCase()),
      account: (claimed && sent(claimed.toLowerCase())) || basicUser(sent("authorization")),
    };
  };
}

function headerName(lower: string): string {
  return lower.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()).replace("Uri", "URI");
}
