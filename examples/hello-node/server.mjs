// A small HTTP app behind a limiter: 100 requests per minute for each address, counted in this process.
import { createServer } from "node:http";
import { createLimiter } from "tidegate";

const host = "127.0.0.1";
const port = Number(process.env.PORT ?? 8080);
const limiter = createLimiter({ name: "hello", limit: "100 per minute" });

const server = createServer(async (req, res) => {
  const verdict = await limiter.consume(req.socket.remoteAddress ?? "unknown");
  res.setHeader("Content-Type", "text/plain; charset=utf-8");
  res.setHeader("RateLimit-Policy", `"hello";q=${verdict.limit};w=${seconds(verdict.windowMs)}`);
  res.setHeader("RateLimit", `"hello";r=${verdict.remaining};t=${seconds(verdict.resetAfterMs)}`);
  if (verdict.allowed) {
    res.end(`Hello! You may call ${verdict.remaining} more times in this minute.\n`);
  } else {
    const wait = seconds(verdict.retryAfterMs);
    res.writeHead(429, { "Retry-After": wait, "Cache-Control": "no-store" });
    res.end(`That was more than ${verdict.limit} calls in a minute. Please come back in ${wait} s.\n`);
  }
});

/** Rounded up: who waits this long is let in. */
function seconds(ms) {
  return Math.ceil(ms / 1000);
}

server.on("error", (error) => {
  if (error.code !== "EADDRINUSE") throw error;
  console.error(`Port ${port} is taken. Choose another one:  PORT=${port + 1} npm start`);
  process.exitCode = 1;
});

server.listen(port, host, () => {
  const url = `http://${host}:${server.address().port}/`;
  console.log(`
Tidegate lets 100 calls per minute and address through to ${url}

Try, in another terminal:
  curl -i ${url}
  for i in $(seq 105); do curl -s -o /dev/null -w '%{http_code} ' ${url}; done; echo
  curl -i ${url}      # now 429, with Retry-After

Ctrl-C stops it.`);
});

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    server.close();
    server.closeIdleConnections();
  });
}
