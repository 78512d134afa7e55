import { fastlyEdge } from "../../packages/tidegate-server/src/edges/fastly/fastly-edge.js";
import { startFastlyFake } from "../servers/fastly-fake/index.js";
import { edgeContract } from "./edge-contract.js";
import { settingsFor } from "./edge-fastly-rig.js";

const names = ["tidegate_0", "tidegate_1", "tidegate_2", "tidegate_3"];

edgeContract("Fastly with four dictionaries", async () => {
  const fake = await startFastlyFake({ writesPerHour: 1_000_000 });
  fake.create(...names, "tidegate_conf");
  const open = () => fastlyEdge(settingsFor(fake, { shards: names.length }));
  return {
    edge: open(),
    async read() {
      const items = names.flatMap((name) => [...fake.items(name)]);
      const ours = items.filter(([, value]) => value !== "true");
      return new Map(ours.map(([key, end]) => [key, Number(end) * 1_000]));
    },
    async plantForeign() {
      // Its SHA-256 begins with a: the third of four.
      fake.put("tidegate_2", "192.0.2.66", "true");
      return "192.0.2.66";
    },
    hasForeign: async (key) => fake.items("tidegate_2").get(key) === "true",
    async wipe() {
      for (const { items } of fake.service.dictionaries.values()) items.clear();
    },
    reopen: async () => open(),
    close: () => fake.close(),
  };
});
