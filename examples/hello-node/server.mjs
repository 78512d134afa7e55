// A small HTTP app behind a gate: 100 requests per minute for each address, counted in this process.
import { createServer } from "node:http";
import { decisionOf, tidegate } from "tidegate/node";

const host = "127.0.0.1";
const port = Number(process.env.PORT ?? 8080);
const limited = tidegate({ limit: "100 per minute" });

const server = createServer(
  limited((req, res) => {
    const { remaining } = decisionOf(req).verdict;
    res.setHeader("Content-Type", "text/plain; charset=utf-8");
    res.end(`Hello! You may call ${remaining} more times in this minute.\n`);
  }),
);

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
