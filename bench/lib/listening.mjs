/** A node:http server on a free port, patient enough for a contestant that waits for its turn. */
export function listening(server) {
  server.keepAliveTimeout = 600_000;
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve({ port: server.address().port }));
  });
}
