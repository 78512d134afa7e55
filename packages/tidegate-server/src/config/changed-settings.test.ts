import { describe, expect, it } from "vitest";
import { changedSettings } from "./changed-settings.js";
import { loadText } from "./load-config.js";

const app = "upstreams: [{ url: http://127.0.0.1:3000 }]\n";
const settingsOf = (text: string) => loadText(text, { env: {}, cwd: "/srv" }).settings;
const changed = (one: string, other: string) => changedSettings(settingsOf(one), settingsOf(other));

describe("changed settings", () => {
  it("are none where two files mean the same", () => {
    const short = `${app}store: redis\nadmin: { token: a-long-token }\nedges: { cdn: { kind: memory } }\n`;
    const long = `upstreams: [{ urls: ["http://127.0.0.1:3000"], path: / }]
store: { kind: redis, url: "redis://127.0.0.1:6379" }
admin: { token: "a-long-token", hosts: [] }
edges: { cdn: { kind: memory, maxEntries: 10000 } }
drain: 10000ms
policy: { rules: [{ name: a, by: ip, limits: [1 per minute] }] }
`;
    expect(changed(short, long)).toEqual([]);
  });

  it("are named as a file has them, every one", () => {
    const one = `${app}
listen: { proxy: 8080, admin: 8088 }
admin: { token: one-long-token }
decide: { token: one-long-token, peers: [10.0.0.1] }
store: { kind: redis, url: "redis://:one@127.0.0.1", cluster: false }
failure: { deadline: 100ms, breaker: { failures: 5, pause: 1s } }
proxy: { keepAlive: 65s }
customers: { source: { kind: http, url: "http://127.0.0.1:1/c", token: one-long-token, every: 1m } }
control: { track: { standard: 60 per minute, halfLife: 30s, holdFor: [1m] }, every: 5s, holdOff: 10m, spare: [] }
edges:
  cdn: { kind: fastly, service: abc, token: one-long-token }
  lb: { kind: nginx, file: held.conf, reload: 1s }
  gone: { kind: memory }
  other: { kind: memory }
responses: { headers: draft-11 }
`;
    const other = `upstreams: [{ url: http://127.0.0.1:3000, health: { every: 7s } }]
listen: { proxy: "0.0.0.0:8080", admin: false }
admin: { token: two-long-token }
decide: { token: two-long-token, peers: [10.0.0.1, 10.0.0.2], canFinish: true }
trustedProxies: [10.0.0.0/8]
clientIpHeader: X-Client
identify: { customer: X-Customer-Id }
identity: { networkPrefixes: [16, 32] }
store: { kind: redis, url: "redis://:two@127.0.0.1", prefix: x, cluster: true }
data: ./other
failure: { deadline: 200ms, breaker: { failures: 6, pause: 2s }, onStoreFailure: deny }
proxy: { keepAlive: 60s, maxBodyBytes: 5 }
customers: { source: { kind: http, url: "http://127.0.0.1:1/c", token: two-long-token, every: 2m } }
control: { track: { standard: 61 per minute, halfLife: 31s, holdFor: [2m] }, every: 6s, holdOff: 11m, spare: [private], guard: { share: 0.6 } }
edges:
  cdn: { kind: fastly, service: abc, token: two-long-token }
  lb: { kind: nginx, file: held.conf, reload: 2s }
  more: { kind: memory }
  other: { kind: nginx, file: other.conf }
decisionLog: { file: decisions.ndjson }
responses: { headers: [draft-6, legacy], status: 503 }
rehearse: { keep: 5 }
metrics: { offenders: 5 }
logs: { level: warn }
workers: 2
drain: 11s
`;
    expect(changed(one, other)).toEqual(
      `listen.proxy listen.admin upstreams proxy.keepAlive proxy.maxBodyBytes decide.peers decide.canFinish decide.token
      admin.token trustedProxies clientIpHeader identify.customer identity.networkPrefixes responses.headers responses.status
      store.url store.prefix store.cluster data failure.deadline failure.breaker.failures failure.breaker.pause
      failure.onStoreFailure customers.source.token customers.source.every control.track.standard control.track.halfLife
      control.track.holdFor control.every control.holdOff control.spare control.guard.share edges.cdn.token edges.lb.reload
      edges.gone edges.other edges.more rehearse.keep metrics.offenders logs.level workers drain decisionLog`.split(
        /\s+/,
      ),
    );
  });

  it("of another kind are one change", () => {
    expect(changed(app, `${app}store: redis\n`)).toEqual(["store"]);
    expect(changed(app, `${app}identify: { account: { field: email } }\n`)).toEqual(["identify.account"]);
    expect(changed(`${app}admin: { token: one-long-token }\n`, app)).toEqual(["admin.token"]);
  });
});
