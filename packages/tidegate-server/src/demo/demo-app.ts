import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface DemoApp {
  readonly url: string;
  close(): Promise<void>;
}

/** Something to stand behind the gate while there is no app: says hello, and what it was asked. */
export async function startDemoApp(): Promise<DemoApp> {
  const server = createServer((req, res) => {
    res.setHeader("Content-Type", "application/json");
    res.end(
      `${JSON.stringify({ hello: "from the app behind Tidegate", method: req.method, path: req.url, client: req.headers["x-forwarded-for"] })}\n`,
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
