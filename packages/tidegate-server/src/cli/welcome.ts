import type { Loaded } from "../config/load-config.js";
import type { Urls } from "../server.js";

/** What a person sees who started it by hand: where everything is, and what to try. */
export function welcome({ settings, file }: Loaded, { proxy, decide, admin }: Urls): string {
  const lines = [
    "",
    settings.isDemo
      ? "Tidegate runs a demo: 100 requests a minute by address, loopback included."
      : `Tidegate runs ${file}.`,
    "",
  ];
  if (proxy !== undefined)
    lines.push(`  proxy      ${proxy}${settings.isDemo ? "   an app of ours stands behind it" : ""}`);
  if (decide !== undefined)
    lines.push(`  decisions  ${decide}   POST /v1/decide, /v1/auth for nginx, Caddy, Traefik`);
  if (admin !== undefined) lines.push(`  admin      ${admin}   /health, /ready, /metrics, /v1/status`);
  lines.push("", "Try, in another terminal:", "");
  if (proxy !== undefined) {
    lines.push(
      `  curl -i ${proxy}/`,
      `  for i in $(seq 105); do curl -s -o /dev/null -w '%{http_code} ' ${proxy}/; done; echo`,
      `  curl -i ${proxy}/      # now 429, with Retry-After`,
    );
  }
  if (decide !== undefined) {
    lines.push(
      `  curl -s ${decide}/v1/decide -d '{"subject":{"ip":"203.0.113.9","method":"GET","host":"example.com","path":"/"}}'`,
    );
  }
  if (admin !== undefined) {
    lines.push(
      `  curl -X PUT ${admin}/v1/lists/safelist/127.0.0.1 -d '{"for":"1h","why":"testing"}'   # lets you in again`,
    );
  }
  lines.push("", "Ctrl-C stops it.", "");
  return `${lines.join("\n")}\n`;
}
