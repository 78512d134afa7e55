import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP proxy that misbehaves on command. What is switched on also holds for connections already open. */
export interface FaultProxy {
  readonly port: number;
  /** Breaks every connection now; new ones are accepted. */
  cut(): void;
  /** Requests still reach the server; its replies are thrown away. */
  swallowReplies(on: boolean): void;
  /** Holds every reply back for this long. */
  delay(ms: number): void;
  /** New connections are refused while on; those already open live on. */
  refuse(on: boolean): Promise<void>;
  stop(): Promise<void>;
}

/** On any free port, unless told which. */
export async function faultProxy(targetPort: number, ownPort = 0): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  let swallowing = false;
  let delayMs = 0;
  let server: Server | undefined;

  function bridge(client: Socket): void {
    const upstream = connect({ port: targetPort, host: "127.0.0.1", noDelay: true });
    client.setNoDelay(true);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (request) => upstream.write(request));
    upstream.on("data", (reply) => {
      if (swallowing) return;
      if (delayMs > 0) setTimeout(() => client.write(reply), delayMs);
      else client.write(reply);
    });
  }

  async function listen(port: number): Promise<number> {
    const opened = createServer(bridge);
    await new Promise<void>((resolve, reject) => {
      opened.once("error", reject);
      opened.listen(port, "127.0.0.1", resolve);
    });
    server = opened;
    return (opened.address() as { port: number }).port;
  }

  function stopListening(): void {
    server?.close(); // it stops listening at once; its callback would wait for open connections
    server = undefined;
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }

  const port = await listen(ownPort);
  return {
    port,
    cut,
    swallowReplies(on) {
      swallowing = on;
    },
    delay(ms) {
      delayMs = ms;
    },
    async refuse(on) {
      if (on) stopListening();
      else if (!server) await listen(port);
    },
    async stop() {
      const closed = new Promise<void>((resolve) =>
        server ? server.once("close", () => resolve()) : resolve(),
      );
      stopListening();
      cut();
      await closed;
    },
  };
}
