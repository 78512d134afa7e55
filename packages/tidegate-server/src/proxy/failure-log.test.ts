import { expect, it } from "vitest";
import type { Log } from "../log.js";
import { failureLog } from "./failure-log.js";

it("tells the first failure of an origin with its cause, and how many more there were with the next, ten seconds later", () => {
  const told: object[] = [];
  const log = { debug() {}, warn: (fields: object) => void told.push(fields) } as unknown as Log;
  let at = 0;
  const onFailed = failureLog({ upstream: "app", log, now: () => at });
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  for (let i = 0; i < 1000; i++) onFailed("http://a", refused);
  onFailed("http://b", new Error("odd"));
  at = 9_999;
  onFailed("http://a", refused);
  expect(told).toEqual([
    { upstream: "app", origin: "http://a", complaint: "ECONNREFUSED: connect ECONNREFUSED" },
    { upstream: "app", origin: "http://b", complaint: "odd" },
  ]);
  at = 10_000;
  onFailed("http://a", new Error("again"));
  expect(told[2]).toEqual({ upstream: "app", origin: "http://a", complaint: "again", more: 1000 });
});
