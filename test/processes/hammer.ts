import { once } from "node:events";
import { Cluster, Redis } from "ioredis";
import { redisStore } from "../../packages/tidegate/src/stores/redis/index.js";
import { type Shape, shapes } from "./shapes.js";

/** What a child that is up is told: first this, then, once it has said that it is ready, to go. */
export interface Orders {
  ports: number[];
  prefix: string;
  shape: Shape;
  calls: number;
  /** How many are under way at once. */
  inFlight: number;
}

/** Asks all that was ordered, and tells the parent how many decisions were allowed. */
async function obey({ ports, prefix, shape, calls, inFlight }: Orders): Promise<void> {
  const [port] = ports as [number];
  const client =
    ports.length === 1 ? new Redis(port) : new Cluster(ports.map((at) => ({ host: "127.0.0.1", port: at })));
  const store = redisStore({ client, prefix });
  await store.peek(shapes[shape](0));
  process.send?.("ready");
  await once(process, "message");
  let allowed = 0;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < calls) {
      const verdicts = await store.decide(shapes[shape](next++));
      if (verdicts.every((verdict) => verdict.allowed)) allowed++;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  client.disconnect();
  process.send?.({ allowed });
}

process.send?.("up");
for (;;) {
  const [orders] = await once(process, "message");
  await obey(orders as Orders);
}
