import type { ServerResponse } from "node:http";

export function sendJson(res: ServerResponse, text: string): void {
  res.writeHead(200, ["Content-Type", "application/json", "Content-Length", `${Buffer.byteLength(text)}`]);
  res.end(text);
}
