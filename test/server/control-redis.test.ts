import { createClient } from "@redis/client";
import { memoryDirectory } from "tidegate";
import { afterEach, describe, expect, inject, it, vi } from "vitest";
import { openRedisData } from "../../packages/tidegate-server/src/data/redis-data.js";
import type { Data } from "../../packages/tidegate-server/src/data.js";
import type { Edge } from "../../packages/tidegate-server/src/edge.js";
import { memoryTable } from "../../packages/tidegate-server/src/edges/memory/memory-edge.js";
import { faultProxy } from "../servers/index.js";
import { type ControlRig, controlRig, digestOf, offenderOf } from "./control-support.js";

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

const soon = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 15_000, interval: 10 });
const statusOf = async ({ loop }: ControlRig) => (await loop.desk.edges())[0];

/** Data as another process has it: by a connection of its own. */
async function openData(prefix: string, port = inject("redisPort")): Promise<Data> {
  const client = createClient({ socket: { port, reconnectStrategy: 20 }, disableOfflineQueue: true });
  client.on("error", () => {});
  await client.connect();
  endings.push(() => client.destroy());
  const data = await openRedisData({ client, prefix, directory: memoryDirectory() });
  endings.push(() => data.close());
  return data;
}

function open(options: Parameters<typeof controlRig>[0]): ControlRig {
  const rig = controlRig(options);
  endings.push(() => rig.loop.close());
  return rig;
}

const newPrefix = (): string => `t:${crypto.randomUUID()}`;
const terms = { leaseMs: 1_000, renewMs: 700, applyMs: 200, retryMs: 50 };

describe("control on Redis", () => {
  it("whoever one process finds is at the edge that another one keeps, and a clear in a third takes it off", async () => {
    const prefix = newPrefix();
    const keeper = open({ data: await openData(prefix), settings: { everyMs: 60_000 } });
    await soon(async () => expect((await statusOf(keeper))?.state).toBe("in step"));
    const finder = await openData(prefix);
    const until = Date.now() + 600_000;
    for (let i = 0; i < 20; i++) await finder.offenders.add(offenderOf(digestOf(i), { until }));
    await finder.offenders.add(offenderOf("203.0.113.7", { until }));
    await soon(() => expect(keeper.standing().size).toBe(21));
    const desk = open({ data: await openData(prefix), withoutEdges: true }).loop.desk;
    expect(await desk.clear({ ip: "203.0.113.7" }, { who: "ann" })).toHaveLength(1);
    await soon(() => expect(keeper.standing().size).toBe(20));
    await finder.offenders.add(offenderOf("203.0.113.7", { until }));
    await keeper.loop.desk.sync({ isDryRun: false });
    expect(keeper.standing().size).toBe(20);
    expect(await desk.setMode("front", "off", { who: "ann" })).toMatchObject({ mode: "off" });
    await soon(() => expect(keeper.table.mode).toBe("off"));
    await soon(async () => expect((await desk.edges())[0]).toMatchObject({ entries: 20, mode: "off" }));
  });

  it("a keeper cut off from Redis is replaced, and writes no more", async () => {
    const prefix = newPrefix();
    const table = memoryTable();
    const wire = await faultProxy(inject("redisPort"));
    endings.push(() => wire.stop());
    let writes = 0;
    const through = (edge: Edge): Edge => ({
      ...edge,
      apply(changes, signal) {
        writes++;
        return edge.apply(changes, signal);
      },
    });
    const first = open({ data: await openData(prefix, wire.port), table, terms, holder: "first", through });
    await soon(async () => expect((await statusOf(first))?.keeper).toBe("first"));
    const data = await openData(prefix);
    const second = open({ data, table, terms, holder: "second" });
    const until = Date.now() + 600_000;
    await data.offenders.add(offenderOf(digestOf(1), { until }));
    await soon(() => expect(first.standing().size).toBe(1));
    await wire.refuse(true);
    wire.cut();
    await soon(async () => expect((await statusOf(second))?.keeper).toBe("second"));
    const before = writes;
    await data.offenders.add(offenderOf(digestOf(2), { until }));
    await soon(() => expect(second.standing().size).toBe(2));
    await wire.refuse(false);
    await soon(async () => expect((await statusOf(first))?.keeper).toBe("second"));
    await data.offenders.add(offenderOf(digestOf(3), { until }));
    await soon(() => expect(second.standing().size).toBe(3));
    expect(writes).toBe(before);
  });
});
