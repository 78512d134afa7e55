import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ask } from "./decide-rig.js";

export interface TraefikOptions {
  /** As in the dynamic configuration Tidegate writes. */
  readonly forwardAuth: {
    readonly address: string;
    readonly trustForwardHeader: boolean;
    readonly authRequestHeaders: readonly string[];
    readonly authResponseHeaders: readonly string[];
  };
  /** Asks with the client's own method. */
  readonly preserveRequestMethod?: boolean;
  readonly app: (req: { readonly headers: Record<string, string> }) => void;
}

const hopByHop = [
  "connection",
  "keep-alive",
  "te",
  "trailers",
  "transfer-encoding",
  "upgrade",
  "proxy-connection",
];

/**
 * Traefik's ForwardAuth as its source has it: there is no package to run it from. The client's headers less hop-by-hop
 * ones and those not listed, X-Forwarded-* set by itself; 2xx lets in and hands headers to the app; anything else
 * goes back as it came; no answer is 500.
 */
export async function startTraefik(options: TraefikOptions): Promise<{ url: string; close(): void }> {
  const server: Server = createServer(async (req, res) => {
    const { forwardAuth, preserveRequestMethod, app } = options;
    const method = preserveRequestMethod === true ? (req.method ?? "GET") : "GET";
    try {
      const answer = await ask(forwardAuth.address, { method, headers: asked(req, forwardAuth) });
      if (answer.status < 200 || answer.status >= 300) {
        res.writeHead(answer.status, withoutHops(answer.headers)).end(answer.text);
        return;
      }
      const headers = withoutHops(req.headers);
      for (const name of forwardAuth.authResponseHeaders) {
        const value = answer.headers[name.toLowerCase()];
        if (value === undefined) delete headers[name.toLowerCase()];
        else headers[name.toLowerCase()] = String(value);
      }
      app({ headers });
      res.writeHead(200).end("the app");
    } catch {
      res.writeHead(500).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function asked(
  { method = "GET", url = "/", headers, socket }: IncomingMessage,
  { authRequestHeaders, trustForwardHeader }: TraefikOptions["forwardAuth"],
): Record<string, string> {
  if (trustForwardHeader) throw new Error("this Traefik trusts nobody");
  const listed = new Set(authRequestHeaders.map((name) => name.toLowerCase()));
  const sent = Object.entries(withoutHops(headers)).filter(([name]) => listed.size === 0 || listed.has(name));
  return {
    ...Object.fromEntries(sent.filter(([name]) => name !== "host" && name !== "content-length")),
    "x-forwarded-for": socket.remoteAddress ?? "",
    "x-forwarded-method": method,
    "x-forwarded-proto": "http",
    "x-forwarded-port": "80",
    "x-forwarded-host": headers.host ?? "",
    "x-forwarded-uri": url,
  };
}

function withoutHops(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !hopByHop.includes(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}
