import type { VarnishNames } from "./varnish-options.js";

/** Who the client is, as Tidegate counts it, from the request as it was sent. */
export function fingerprintVcl({ hash, ipv6Prefix }: VarnishNames): string {
  const texts = hash === "hash_sha256" ? sizedTexts : seedTexts;
  return String.raw`# What a request is looked up by: host without port, path without query, HEAD as GET, address without zone. Each room a header
# takes is one the client can not use: Host and URL, put aside by now, are where it is worked out.
sub tidegate_standard {
  set req.http.Host = regsub(std.tolower(req.http.Host), "^(\[.*\]|[^:\[][^:]*):[0-9]*$", "\1");
  if (req.url ~ "^[^/?#]+://") {
    set req.url = regsub(regsub(req.url, "[?#].*$", ""), "^[^/]+?://[^/]*", "") + "?";
    if (req.url == "?") {
      set req.url = "/";
    }
  }
  if (req.method ~ "(?i)^(?:get|head)$") {
    set req.url = ${texts.before} + ${texts.get};
  } else {
    set req.url = ${texts.before} + ${texts.method};
  }
  call tidegate_address;
  set req.url = "/tidegate/" + digest.${hash}(req.url + ${texts.broad});
}

sub tidegate_broad {
  call tidegate_address;
  set req.url = "/tidegate/" + digest.${hash}("" + ${texts.broad});
}

# IPv4 inside IPv6 and behind NAT64 is IPv4.
sub tidegate_address {
  set req.http.Host = client.ip;
  if (req.http.Host ~ ":") {
    set req.http.Host = regsub(req.http.Host, "%.*$", "");
    if (req.http.Host ~ "^64:ff9b::(?:[0-9a-f]+(?::[0-9a-f]+)?)?$") {
      set req.http.Host = regsub(regsub(req.http.Host, "::([0-9a-f]*)$", "::0:\1"), ":$", ":0");
      set req.http.Host = std.ip(regsub(req.http.Host, "^64:ff9b::", "::ffff:"), client.ip);
    }
    set req.http.Host = regsub(req.http.Host, "^::ffff:([0-9.]+)$", "\1");
  }
}
${ipv6Prefix === 64 ? blockVcl : ""}`;
}

/** IPv6 only: from `2001:db8::1` to `2001:db8::/64`. */
const blockVcl = String.raw`
# IPv6 clients are known by their first four groups, zeros at the end left out: 2001:db8:1:2::/64, 2001:db8::/64.
sub tidegate_block {
  if (req.http.Host ~ ":") {
    # A gap that ends within the first four groups is filled, any other begins what is left out.
    set req.http.Host = regsub(req.http.Host, "^::((?:[0-9a-f]+:){5}[0-9a-f]+)$", "0:0:\1");
    set req.http.Host = regsub(req.http.Host, "^::((?:[0-9a-f]+:){4}[0-9a-f]+)$", "0:0:0:\1");
    set req.http.Host = regsub(req.http.Host, "^([0-9a-f]+)::((?:[0-9a-f]+:){4}[0-9a-f]+)$", "\1:0:0:\2");
    set req.http.Host = regsub(req.http.Host, "^((?:[0-9a-f]+:){3}[0-9a-f]+):.*$", "\1");
    set req.http.Host = regsub(req.http.Host, "::.*$", "");
    set req.http.Host = regsub(regsub(req.http.Host, "(:0)+$", ""), "^0$", "") + "::/64";
  }
}
`;

const path = `regsub(req.url, "[?#].*$", "")`;
const method = `regsub(std.toupper(req.method), "^HEAD$", "GET")`;
const sized = (value: string): string =>
  `blob.length(blob.decode(IDENTITY, encoded=${value})) + ":" + ${value}`;

/** The library's texts, byte for byte: all of broad's is the end of standard's. */
const sizedTexts = {
  before: `"" + ${sized("req.http.Host")} + ${sized(path)}`,
  get: `"3:GET"`,
  method: sized(method),
  broad: `${sized("req.http.Host")} + ${sized("req.http.User-Agent")}`,
};
const seedTexts = {
  before: `req.http.Host + ":" + ${path}`,
  get: `":GET:"`,
  method: `":" + ${method} + ":"`,
  broad: `req.http.Host + ":" + req.http.User-Agent`,
};
