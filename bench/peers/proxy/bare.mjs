import { createServer } from "node:http";
import { listening } from "../../lib/listening.mjs";
import { DECISION_BYTES, QUESTION } from "../../lib/wire-requests.mjs";

/** Reads JSON, and says it again with as much more as makes it a decision's length. */
function echo(req, res) {
  const pieces = [];
  req.on("data", (piece) => pieces.push(piece));
  req.on("end", () => {
    const question = JSON.parse(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
    const text = JSON.stringify({ ...question, padding });
    res.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) });
    res.end(text);
  });
}
const padding = "x".repeat(DECISION_BYTES - QUESTION.length - ',"padding":""'.length);

export const apps = {
  /** No proxy at all. It takes no CPU. */
  direct: ({ upstream }) => ({ port: upstream, cpuMicros: () => Number.NaN }),
  echo: () => listening(createServer(echo)),
};
