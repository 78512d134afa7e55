import { Agent, type ClientRequest, type IncomingHttpHeaders, request } from "node:http";

export interface Asked {
  readonly method?: string;
  /** The request target as it goes over the wire. Default `/`. */
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent?: Agent;
}

export interface Told {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends one request as it is written, without the tidying of a browser's client. */
export function ask(url: string, asked: Asked = {}): Promise<Told> {
  return new Promise((resolve, reject) => {
    const sent = open(url, asked);
    sent.on("error", reject);
    sent.on("response", (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text) => {
        body += text;
      });
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    sent.end(asked.body);
  });
}

/** Sends a request and leaves its answer to the caller. */
export function open(
  url: string,
  { method = "GET", target = "/", headers = {}, agent }: Asked,
): ClientRequest {
  const { hostname, port } = new URL(url);
  return request({ hostname, port, method, path: target, headers, agent: agent ?? false });
}

/** One connection, used again and again. */
export function oneConnection(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}
