import type { ServerResponse } from "node:http";
import { endInOnePiece } from "../end-in-one-piece.js";

export function sendJson(res: ServerResponse, text: string): void {
  const bytes = Buffer.byteLength(text);
  res.writeHead(200, ["Content-Type", "application/json", "Content-Length", `${bytes}`]);
  // As many bytes as characters: plain ASCII.
  if (bytes === text.length) endInOnePiece(res, text);
  else res.end(text);
}
