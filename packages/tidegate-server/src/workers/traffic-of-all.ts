import type { KeptPage, KeptRequest } from "../kept-request.js";
import type { Asking } from "./asking.js";

/** Few enough that no worker is kept from its traffic by telling of it. */
const pageSize = 2_000;
/** A worker whose traffic outruns the question is not asked for ever. */
const mostPages = 1_000;

/** What all workers kept of their newest requests, oldest first. One that does not say has none. */
export async function trafficOfAll(workers: readonly Asking[]): Promise<KeptRequest[]> {
  const all = (await Promise.all(workers.map(trafficOf))).flat();
  return all.sort((one, other) => one.at - other.at);
}

async function trafficOf(worker: Asking): Promise<KeptRequest[]> {
  const requests: KeptRequest[] = [];
  let from: number | undefined = 0;
  for (let page = 0; from !== undefined && page < mostPages; page++) {
    const answer: KeptPage = await worker.ask({ kind: "traffic", from, most: pageSize }, { requests: [] });
    requests.push(...answer.requests);
    from = answer.next;
  }
  return requests;
}
