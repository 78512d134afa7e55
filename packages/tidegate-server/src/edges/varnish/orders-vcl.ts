import type { VarnishNames } from "./varnish-options.js";

/** The listener that takes orders: `PUT`, `GET`, `DELETE` of `/tidegate/<key>`. */
export function ordersVcl({ hash, ipv6Prefix, control, tokenDigest }: VarnishNames): string {
  const keys = keyShape({ hash, ipv6Prefix });
  const told =
    tokenDigest === undefined
      ? ""
      : `  # By its digest: how long a comparison takes says nothing of the token.
  if (req.restarts == 0 && digest.hash_sha256("" + req.http.Authorization) != "${tokenDigest}") {
    return (synth(401, "Unauthorized"));
  }
`;
  return String.raw`acl tidegate_control {
${control.map((line) => `  ${line}`).join("\n")}
}

# An order: looked up in the table, and carried out where it is found or missed.
sub tidegate_order {
  if (remote.ip !~ tidegate_control) {
    return (synth(403, "Forbidden"));
  }
${told}  unset req.http.Authorization;
  if (req.url !~ "^/tidegate/(?:${keys}(?:\?until=[0-9]{1,11})?|mode(?:\?value=(?:on|shadow|off))?|(?:marker|writer)(?:\?value=[0-9a-f]{8,64})?)$") {
    return (synth(400, "No such key"));
  }
  if (req.method != "GET" && req.method != "PUT" && req.method != "DELETE") {
    return (synth(405, "Method Not Allowed"));
  }
  if (req.method == "PUT" && req.url ~ "^/tidegate/(?:mode|marker|writer)$") {
    return (synth(400, "No value"));
  }
  set req.http.X-Tidegate-Key = regsub(req.url, "^/tidegate/([^?]*).*$", "\1");
  set req.http.X-Tidegate-Value = "true";
  if (req.url ~ "=") {
    set req.http.X-Tidegate-Value = regsub(req.url, "^.*=", "");
  }
  if (!req.http.X-Tidegate-Value) {
    return (synth(431, "Request Header Fields Too Large"));
  }
  # What has ended already is as good as removed.
  if (req.method == "PUT" && req.url ~ "until=" && std.time(req.http.X-Tidegate-Value, now) <= now) {
    set req.method = "DELETE";
  }
  set req.hash_ignore_busy = true;
  # A PUT that found something comes here again.
  set req.hash_always_miss = (req.restarts > 0);
  return (hash);
}

sub tidegate_order_hit {
  set req.http.X-Tidegate-Found = obj.http.X-Tidegate-Value;
  set req.http.X-Tidegate-Left = std.integer(duration=obj.ttl, fallback=0);
  if (req.method == "GET") {
    return (synth(200, "OK"));
  }
  # What people put there without an end is theirs to change.
  if (req.http.Tidegate-Only == "timed" && req.http.X-Tidegate-Found == "true") {
    return (synth(409, "Held without end"));
  }
  if (req.method == "DELETE") {
    set req.http.X-Tidegate-Purged = purge.hard();
    return (synth(200, "OK"));
  }
  # The old one stands until the new one does, and a second longer.
  set req.http.X-Tidegate-Purged = purge.soft(1s, 0s, 0s);
  return (restart);
}

sub tidegate_order_miss {
  if (req.method == "GET") {
    return (synth(404, "Not Found"));
  }
  if (req.method == "DELETE") {
    set req.http.X-Tidegate-Purged = purge.hard();
    return (synth(200, "OK"));
  }
  return (fetch);
}

sub tidegate_order_synth {
  set resp.http.Content-Type = "text/plain";
  set resp.http.Tidegate-Takes = "${hash.slice("hash_".length)} ${ipv6Prefix}";
  if (resp.status == 200 && req.method == "GET") {
    set resp.http.Tidegate-Value = req.http.X-Tidegate-Found;
    synthetic(req.http.X-Tidegate-Found + " " + req.http.X-Tidegate-Left + {"
"});
  } else {
    synthetic(resp.reason + {"
"});
  }
  return (deliver);
}
`;
}

/** Only keys that are looked up: others would never hold anybody. */
function keyShape({ hash, ipv6Prefix }: Pick<VarnishNames, "hash" | "ipv6Prefix">): string {
  const digests = `[0-9a-f]{${hash === "hash_sha256" ? 64 : 40}}`;
  const ipv4 = String.raw`(?:[0-9]{1,3}\.){3}[0-9]{1,3}`;
  const ipv6 =
    ipv6Prefix === 64 ? "(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,3})?::/64" : "(?=[0-9a-f.]*:)[0-9a-f:.]{2,45}";
  return `(?:${digests}|${ipv4}|${ipv6})`;
}
