import type { ModelledRequest, Truth } from "./truth.js";

export interface ClientFacts {
  readonly truth: Truth;
  readonly ip: string;
  readonly userAgent: string;
  readonly apiKey?: string;
  readonly customer?: string;
}

export interface Sent {
  readonly at: number;
  readonly path: string;
  /** Default GET. */
  readonly method?: string;
  /** Default 200. */
  readonly status?: number;
  readonly account?: string;
}

/** Sends as one browser, crawler or tool from one address. */
export type Client = (sent: Sent) => ModelledRequest;

/** The host of the site that all of the model's clients ask. */
const siteHost = "www.example.com";

export function clientOf({ truth, ip, userAgent, apiKey, customer }: ClientFacts): Client {
  const header = (name: string) => {
    const lower = name.toLowerCase();
    if (lower === "user-agent") return userAgent;
    if (lower === "host") return siteHost;
    return lower === "x-api-key" ? apiKey : undefined;
  };
  return ({ at, path, method = "GET", status = 200, account }) => ({
    at: Math.round(at),
    subject: {
      ip,
      method,
      host: siteHost,
      path,
      header,
      ...(customer !== undefined && { customer }),
      ...(account !== undefined && { account }),
    },
    outcome: { status },
    truth,
  });
}
