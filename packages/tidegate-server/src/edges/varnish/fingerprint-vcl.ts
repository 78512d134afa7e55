import type { VarnishNames } from "./varnish-options.js";

/** Who the client is, as Tidegate counts it, from the request as it was sent. */
export function fingerprintVcl({ hash, ipv6Prefix }: VarnishNames): string {
  const texts = hash === "hash_sha256" ? sizedTexts : seedTexts;
  return String.raw`# What fingerprints are made of: host without port, path without query, address without zone.
sub tidegate_facts {
  set req.http.X-Tidegate-Url = req.url;
  if (req.http.Host) {
    set req.http.X-Tidegate-Host = req.http.Host;
  }
  set req.http.X-Tidegate-Name = regsub(std.tolower(req.http.Host), "^(\[.*\]|[^:\[][^:]*):[0-9]*$", "\1");
  set req.http.X-Tidegate-Path = regsub(req.url, "[?#].*$", "");
  if (req.http.X-Tidegate-Path ~ "^[^/]+://") {
    set req.http.X-Tidegate-Path = regsub(regsub(req.http.X-Tidegate-Path, "^[^/]+?://[^/]*", ""), "^$", "/");
  }
  set req.http.X-Tidegate-Address = regsub(regsub("" + client.ip, "%.*$", ""), "^::ffff:([0-9.]+)$", "\1");
}

sub tidegate_fingerprints {
  call tidegate_facts;
  set req.http.X-Tidegate-Broad = ${texts.broad};
  set req.http.X-Tidegate-Standard = digest.${hash}(${texts.before} + req.http.X-Tidegate-Broad);
  set req.http.X-Tidegate-Broad = digest.${hash}(req.http.X-Tidegate-Broad);
${ipv6Prefix === 64 ? "  call tidegate_block;\n" : ""}  unset req.http.X-Tidegate-Name;
  unset req.http.X-Tidegate-Path;
}
${ipv6Prefix === 64 ? blockVcl : ""}`;
}

/** IPv6 only: from `2001:db8::1` to `2001:db8::/64`. */
const blockVcl = String.raw`
# IPv6 clients are known by their first four groups, zeros at the end left out: 2001:db8:1:2::/64, 2001:db8::/64.
sub tidegate_block {
  if (req.http.X-Tidegate-Address ~ ":") {
    # A gap that ends within the first four groups is filled, any other begins what is left out.
    set req.http.X-Tidegate-Address = regsub(req.http.X-Tidegate-Address, "^::((?:[0-9a-f]+:){5}[0-9a-f]+)$", "0:0:\1");
    set req.http.X-Tidegate-Address = regsub(req.http.X-Tidegate-Address, "^::((?:[0-9a-f]+:){4}[0-9a-f]+)$", "0:0:0:\1");
    set req.http.X-Tidegate-Address = regsub(req.http.X-Tidegate-Address, "^([0-9a-f]+)::((?:[0-9a-f]+:){4}[0-9a-f]+)$", "\1:0:0:\2");
    set req.http.X-Tidegate-Address = regsub(req.http.X-Tidegate-Address, "^((?:[0-9a-f]+:){3}[0-9a-f]+):.*$", "\1");
    set req.http.X-Tidegate-Address = regsub(req.http.X-Tidegate-Address, "::.*$", "");
    set req.http.X-Tidegate-Address = regsub(regsub(req.http.X-Tidegate-Address, "(:0)+$", ""), "^0$", "") + "::/64";
  }
}
`;

const sized = (value: string): string =>
  `blob.length(blob.decode(IDENTITY, encoded=${value})) + ":" + ${value}`;
const before = ["req.http.X-Tidegate-Name", "req.http.X-Tidegate-Path", "std.toupper(req.method)"];
const broad = ["req.http.X-Tidegate-Address", "req.http.User-Agent"];

/** The library's texts, byte for byte: all of broad's is the end of standard's. */
const sizedTexts = {
  before: `"" + ${before.map(sized).join(" + ")}`,
  broad: `"" + ${broad.map(sized).join(" + ")}`,
};
const seedTexts = {
  before: `${before.join(` + ":" + `)} + ":"`,
  broad: broad.join(` + ":" + `),
};
