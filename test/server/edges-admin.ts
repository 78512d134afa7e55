import { Registry } from "prom-client";
import { onTestFinished, vi } from "vitest";
import { openEdgeLoop } from "../../packages/tidegate-server/src/control/edge-loop.js";
import type { ControlDesk } from "../../packages/tidegate-server/src/control-desk.js";
import type { Edge } from "../../packages/tidegate-server/src/edge.js";
import {
  type MemoryTable,
  memoryEdge,
  memoryTable,
} from "../../packages/tidegate-server/src/edges/memory/memory-edge.js";
import { openLog } from "../../packages/tidegate-server/src/observe/open-log.js";
import type { Offender } from "../../packages/tidegate-server/src/offenders.js";
import { type Admin, startAdmin } from "./api-serving.js";

export interface EdgesAdmin extends Admin {
  /** What stands at each edge, read there and not through us. */
  readonly tables: Readonly<Record<string, MemoryTable>>;
  /** Somebody crosses; answers when every edge it goes to has it. */
  hold(offender: Partial<Offender> & Pick<Offender, "key">): Promise<void>;
  /** The API's, to break in parts. */
  readonly desk: ControlDesk;
}

/** The admin API in front of a real loop and its edges in memory, until the test is over. */
export async function startEdgesAdmin(
  options: { names?: readonly string[]; edge?: (edge: Edge) => Edge; policy?: string } = {},
): Promise<EdgesAdmin> {
  const { names = ["cdn", "lb"], edge: changed = (edge) => edge, policy } = options;
  const tables = Object.fromEntries(names.map((name) => [name, memoryTable()]));
  let desk = {} as ControlDesk;
  const admin = await startAdmin({
    ...(policy !== undefined && { policy }),
    openDesk(data) {
      const loop = openEdgeLoop({
        edges: names.map((name) => ({
          kind: "memory",
          edge: changed(memoryEdge({ name, maxEntries: 100, table: tables[name] as MemoryTable })),
        })),
        settings: {
          everyMs: 100,
          holdOffMs: 600_000,
          spare: [],
          guard: { newPerMinute: 5000, share: 0.5 },
        },
        trustedProxies: [],
        isSafelisted: () => false,
        keysOf: ({ ip }) => (ip === undefined ? [] : [ip]),
        forget: async () => {},
        data,
        log: openLog({ level: "silent" }),
        registry: new Registry(),
        holder: "test:1",
      });
      desk = { ...loop.desk };
      return { desk, close: () => loop.close() };
    },
  });
  onTestFinished(() => admin.close());
  return {
    ...admin,
    tables,
    desk,
    async hold(given) {
      const now = Date.now();
      const offender: Offender = {
        rule: "flood",
        crossedAt: now,
        until: now + 600_000,
        score: 2,
        leaked: 0,
        edges: [],
        about: {},
        ...given,
      };
      await admin.data.offenders.add(offender);
      const to = offender.edges.length === 0 ? names : offender.edges;
      await vi.waitFor(
        () => {
          for (const name of to)
            if (!tables[name]?.items.has(offender.key))
              throw new Error(`${name} does not know ${offender.key}`);
        },
        { timeout: 10_000, interval: 20 },
      );
    },
  };
}
