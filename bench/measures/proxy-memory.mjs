import { settle } from "../lib/load.mjs";
import { setupProxy } from "../lib/wire-load.mjs";

export const id = "proxy-memory";
export const title = "the server after 1M distinct clients";
export const http = "proxy";
export const fresh = true;
export const rounds = 3;
export const contestants = ["tidegate.one-each"];
export const metrics = ["megabytes", "uncollectedMegabytes"];
const CLIENTS = 1_000_000;

/** Each client comes once; in the end some come again and have to be refused, so all are still known. */
export async function setup({ make, contestant, quick }) {
  const { load } = await setupProxy({ make, contestant, names: ["get"] });
  const count = quick ? CLIENTS / 10 : CLIENTS;
  return {
    async sample() {
      await load.crowd({ from: 0, to: count, status: 200 });
      const uncollected = process.memoryUsage.rss();
      await settle();
      const megabytes = process.memoryUsage.rss() / 1e6;
      await load.crowd({ from: 0, to: count, step: Math.floor(count / 1000), status: 429 });
      return { megabytes, uncollectedMegabytes: uncollected / 1e6 };
    },
  };
}

export function rows({ row }) {
  return [
    row({
      what: "RSS",
      metric: "megabytes",
      unit: "MB",
      ours: "tidegate.one-each",
      peers: [],
      bar: { below: 300 },
    }),
  ];
}
