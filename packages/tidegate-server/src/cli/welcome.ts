import { peerTest } from "tidegate/http";
import type { Loaded } from "../config/load-config.js";
import type { PolicyStatus } from "../policy/policy-status.js";
import { printable } from "../printable.js";
import type { Server, Urls } from "../server.js";
import type { Settings } from "../settings.js";
import { adminUrl } from "./cli.js";

/** What a person sees who started it by hand: where everything is, and what to try. */
export function welcome(
  { settings, file }: Pick<Loaded, "settings" | "file">,
  urls: Urls,
  { loginUrl, policy }: Pick<Server, "policy"> & Partial<Pick<Server, "loginUrl">>,
): string {
  const { proxy, decide, admin } = urls;
  const isDemoPolicy = file === undefined && policy.source === "demo";
  const lines = ["", headline(settings, file, policy), ""];
  if (proxy !== undefined)
    lines.push(`  proxy      ${proxy}${settings.isDemo ? "   an app of ours stands behind it" : ""}`);
  if (decide !== undefined)
    lines.push(`  decisions  ${decide}   POST /v1/decide, /v1/auth for nginx, Caddy, Traefik`);
  if (admin !== undefined) lines.push(`  admin      ${admin}   /health, /ready, /metrics, /v1/status`);
  if (loginUrl !== undefined) lines.push(`  log in     ${loginUrl}   once, within ten minutes`);
  const tries = isDemoPolicy ? triesOfDemo(urls) : triesOfFile(settings, urls);
  if (tries.length > 0) lines.push("", "Try, in another terminal:", "", ...tries.map((each) => `  ${each}`));
  lines.push("", "Ctrl-C stops it.", "");
  return `${lines.join("\n")}\n`;
}

function headline({ isDemo, store }: Settings, file: string | undefined, policy: PolicyStatus): string {
  if (file !== undefined) return `Tidegate runs ${file}.`;
  const limit =
    policy.source === "demo"
      ? "100 requests a minute by address, loopback included"
      : `its data has a policy, version ${policy.version} by ${printable(policy.who)}, and that one rules; ${store.kind === "redis" ? "another store.prefix (in a tidegate.yaml)" : "another --data"} begins anew`;
  return isDemo ? `Tidegate runs a demo: ${limit}.` : `Tidegate runs without a file: ${limit}.`;
}

/** Without a file the demo's limit holds, and this machine may ask for decisions. */
function triesOfDemo({ proxy, decide, admin }: Urls): string[] {
  const tries: string[] = [];
  if (proxy !== undefined)
    tries.push(
      `curl -i ${proxy}/`,
      `for i in $(seq 105); do curl -s -o /dev/null -w '%{http_code} ' ${proxy}/; done; echo`,
      `curl -i ${proxy}/      # now 429, with Retry-After`,
    );
  if (decide !== undefined) tries.push(question(decide));
  if (admin !== undefined)
    tries.push(
      `curl -X PUT ${admin}/v1/lists/safelist/127.0.0.1 -d '{"for":"1h","why":"testing"}'   # lets you in again`,
    );
  return tries;
}

/** Only what is answered under these settings. */
function triesOfFile({ upstreams, decide, admin }: Settings, urls: Urls): string[] {
  const tries: string[] = [];
  if (urls.proxy !== undefined) {
    const { hosts = [], path = "/" } = upstreams[0] ?? {};
    const host = hosts.find((each) => /^[\w.-]+$/.test(each));
    tries.push(`curl -i ${host === undefined ? "" : `-H 'Host: ${host}' `}${urls.proxy}${path}`);
  }
  if (urls.decide !== undefined && peerTest(decide.peers)("127.0.0.1")) tries.push(question(urls.decide));
  if (urls.admin !== undefined) {
    const at = urls.admin === adminUrl ? "" : ` --url ${urls.admin}`;
    if (admin.token !== undefined) tries.push("export TIDEGATE_TOKEN=...      # what admin.token is");
    tries.push(`tidegate why 203.0.113.9${at}`, `tidegate policy show${at}`, `tidegate top${at}`);
  }
  return tries;
}

function question(decide: string): string {
  return `curl -s ${decide}/v1/decide -d '{"subject":{"ip":"203.0.113.9","method":"GET","host":"example.com","path":"/"}}'`;
}
