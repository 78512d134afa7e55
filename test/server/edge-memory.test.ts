import { memoryEdge, memoryTable } from "../../packages/tidegate-server/src/edges/memory/memory-edge.js";
import { edgeContract } from "./edge-contract.js";

edgeContract("the edge in memory", async () => {
  const table = memoryTable();
  const open = () => memoryEdge({ name: "memory", maxEntries: 10_000, table });
  return {
    edge: open(),
    async read() {
      const ours = [...table.items].filter(([, value]) => value !== "true");
      return new Map(ours.map(([key, end]) => [key, Number(end) * 1_000]));
    },
    async plantForeign() {
      table.items.set("192.0.2.66", "true");
      return "192.0.2.66";
    },
    hasForeign: async (key) => table.items.get(key) === "true",
    async wipe() {
      table.items.clear();
      table.mode = undefined;
      table.epoch = String(Math.random());
    },
    reopen: async () => open(),
    async close() {},
  };
});
