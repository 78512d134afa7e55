import { describe, expect, it } from "vitest";
import { toolOf } from "../../policy/identity/tools.js";
import { seededRandom } from "./random.js";
import { type TrafficModelOptions, trafficModel } from "./traffic-model.js";
import type { ModelledRequest } from "./truth.js";

const small: TrafficModelOptions = { seed: 5, hours: 4, users: 150, browsersPerCampus: 80, bots: 20 };
const all = [...trafficModel(small)];
const of = (who: string) => all.filter(({ truth }) => truth.who === who);

function plain({ at, subject, outcome, truth }: ModelledRequest): unknown {
  const { ip, method, path, account, customer } = subject;
  return [at, ip, method, path, account, customer, subject.header("User-Agent"), outcome.status, truth];
}

function byClient(requests: readonly ModelledRequest[]): Map<string, ModelledRequest[]> {
  const clients = new Map<string, ModelledRequest[]>();
  for (const request of requests) {
    const { client } = request.truth;
    clients.set(client, [...(clients.get(client) ?? []), request]);
  }
  return clients;
}

describe("modelled traffic", () => {
  it("is the same for the same seed, and another for another", () => {
    expect([...trafficModel(small)].map(plain)).toEqual(all.map(plain));
    expect([...trafficModel({ ...small, seed: 6 })].length).not.toBe(all.length);
  });

  it("comes in the order of time, within its hours", () => {
    const from = Date.UTC(2026, 0, 12, 8);
    let last = from;
    for (const { at } of all) {
      expect(at).toBeGreaterThanOrEqual(last);
      last = at;
    }
    expect(last).toBeLessThan(from + 4 * 3_600_000);
  });

  it("is made while it is read: a year of it can be begun", () => {
    const year = trafficModel({ ...small, hours: 24 * 365 });
    expect(year.next().value).toMatchObject({ truth: { isHard: expect.any(Boolean) } });
    year.return();
  });

  it("changes for nobody when one more client is there", () => {
    const more = [...trafficModel({ ...small, users: 151 })].filter(
      ({ truth }) => truth.client !== "user-150",
    );
    expect(more.map(plain)).toEqual(all.map(plain));
  });

  it("names nobody: every address is one set aside for documentation or measuring", () => {
    for (const { subject } of all)
      expect(subject.ip).toMatch(/^(192\.0\.2|198\.51\.100|203\.0\.113|198\.1[89]\.\d+)\.\d+$|^2001:db8:/);
  });

  it("has people who come more by day than by night", () => {
    const day = { seed: 1, hours: 24, from: Date.UTC(2026, 0, 12), users: 300, campuses: 0 };
    const people = [...trafficModel(day)].filter(({ truth }) => truth.who === "user");
    const hour = ({ at }: ModelledRequest) => new Date(at).getUTCHours();
    const night = people.filter((each) => hour(each) >= 1 && hour(each) < 7).length;
    const afternoon = people.filter((each) => hour(each) >= 13 && hour(each) < 19).length;
    expect(afternoon).toBeGreaterThan(3 * night);
  });

  it("has a campus: many browsers, one address, a few user agents", () => {
    const campus = of("campus");
    expect(new Set(campus.map(({ subject }) => subject.ip)).size).toBe(1);
    expect(byClient(campus).size).toBeGreaterThan(50);
    expect(new Set(campus.map(({ subject }) => subject.header("user-agent"))).size).toBeLessThan(15);
  });

  it("has crawlers that keep their delay", () => {
    for (const requests of byClient(of("crawler")).values())
      for (let i = 1; i < requests.length; i++)
        expect((requests[i]?.at ?? 0) - (requests[i - 1]?.at ?? 0)).toBeGreaterThanOrEqual(999);
  });

  it("has customers of an API that keep to three quarters of their tier", () => {
    const most = { free: 60, pro: 600, enterprise: 3000 };
    const clients = [...byClient(of("api-client"))];
    expect(clients.length).toBeGreaterThan(3);
    for (const [client, requests] of clients) {
      const tier = (["free", "pro", "enterprise"] as const)[Number(client.split("-").at(-1)) % 3] ?? "free";
      const minutes = new Map<number, number>();
      for (const { at } of requests)
        minutes.set(Math.floor(at / 60_000), (minutes.get(Math.floor(at / 60_000)) ?? 0) + 1);
      expect(Math.max(...minutes.values())).toBeLessThanOrEqual(most[tier] * 0.8);
    }
  });

  it("has abusers of every kind, and says so; ordinary clients have no abuse", () => {
    const abusers = new Set(
      all.flatMap(({ truth }) => (truth.abuse ? [`${truth.who}: ${truth.abuse}`] : [])),
    );
    expect([...abusers].sort()).toEqual([
      "brute-forcer: guessing",
      "flooder: flooding",
      "hammerer: hammering",
      "insider: scraping",
      "prober: probing",
      "scraper: scraping",
    ]);
    for (const who of ["user", "campus", "crawler", "monitor", "api-client"])
      expect(of(who).every(({ truth }) => truth.abuse === undefined && !truth.isHard)).toBe(true);
  });

  it("has scrapers under a tool's name and under a browser's", () => {
    const names = of("scraper").map(({ subject }) => subject.header("user-agent") ?? "");
    expect(names.some((name) => toolOf(name) !== undefined)).toBe(true);
    expect(names.some((name) => toolOf(name) === undefined && name.includes("Chrome/"))).toBe(true);
  });

  it("has no ordinary client that names a tool", () => {
    for (const { subject, truth } of all)
      if (truth.abuse === undefined) expect(toolOf(subject.header("user-agent") ?? "")).toBeUndefined();
  });
});

describe("chance that repeats", () => {
  it("is even, and another for another name", () => {
    const random = seededRandom(1, "a");
    const buckets = new Array<number>(10).fill(0);
    for (let i = 0; i < 10_000; i++) {
      const bucket = Math.floor(random.next() * 10);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    for (const count of buckets) expect(Math.abs(count - 1000)).toBeLessThan(150);
    expect(seededRandom(1, "a").next()).not.toBe(seededRandom(1, "b").next());
    expect(seededRandom(1, "a").next()).not.toBe(seededRandom(2, "a").next());
  });

  it("waits as long as asked on average", () => {
    const random = seededRandom(3, "waits");
    let sum = 0;
    for (let i = 0; i < 20_000; i++) sum += random.wait(50);
    expect(sum / 20_000).toBeCloseTo(50, -1);
  });
});
