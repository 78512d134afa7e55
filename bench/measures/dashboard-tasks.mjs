import { startChild } from "../lib/child.mjs";
import { hasChromium } from "../lib/chromium.mjs";
import { setupProxy } from "../lib/wire-load.mjs";

export const id = "dashboard-tasks";
export const title = "each page with 10,000 list entries, 100,000 clients and 1,000 events a second";
export const http = "proxy";
const OURS = "tidegate.dashboard";
export const contestants = hasChromium ? [OURS] : [];
export const notes = hasChromium ? [] : ["Chromium was not found and is left out"];
export const rounds = 3;
export const metrics = ["longestMs", "busyShare"];
const PAGES = [
  "overview",
  "lists",
  "clients",
  "customers",
  "edges",
  "policy",
  "audit",
  "tokens",
  "playground",
];
export const params = PAGES.map((name) => ({ name, place: `#/${name}` }));
const CLIENTS = 100_000;
const ENTRIES = 10_000;
const RATE = 1_000;
const WATCH_MS = 6_000;

export async function setup({ make, contestant, quick }) {
  const { proxy, load } = await setupProxy({ make, contestant, names: ["get"] });
  await load.crowd({ from: 0, to: quick ? CLIENTS / 10 : CLIENTS, status: 200 });
  await fillList(proxy, quick ? ENTRIES / 10 : ENTRIES);
  // So that some of the events are refusals.
  await load.stream({ from: CLIENTS, to: CLIENTS + 100, rate: RATE, ms: 15_000 });
  const ask = startChild("./dashboards.mjs", "the dashboards' process");
  return {
    async sample({ place }) {
      const streamed = load.stream({ from: CLIENTS, to: CLIENTS + 200, rate: RATE, ms: WATCH_MS + 4_000 });
      const seen = await ask({ do: "watch", place, ms: WATCH_MS, admin: proxy.admin, token: proxy.token });
      await streamed;
      return seen;
    },
  };
}

async function fillList({ admin, token }, count) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  let next = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (next < count) {
        const i = next++;
        const address = `30.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
        const body = JSON.stringify({ why: `scanner ${i}`, for: "1d" });
        const answer = await fetch(`${admin}/v1/lists/blocklist/${address}`, {
          method: "PUT",
          headers,
          body,
        });
        if (!answer.ok) throw new Error(`${address}: ${answer.status} ${await answer.text()}`);
        await answer.arrayBuffer();
      }
    }),
  );
}

export function rows({ row }) {
  return PAGES.map((name) =>
    row({
      what: `${name}, longest task`,
      metric: "longestMs",
      unit: "ms",
      ours: OURS,
      peers: [],
      at: name,
      bar: { below: 100 },
    }),
  );
}
