import { type Rendered, wrong } from "../rendered.js";
import { isBlock, isMapFolder, mapPaths } from "./maps.js";

export interface HaproxyRenderOptions {
  /** The folder of the maps, as in the edge's settings. Default `/etc/haproxy/tidegate`. */
  readonly maps?: string;
  /** The runtime API, as in the edge's settings: a path, or `host:port`. Default `/run/haproxy/admin.sock`. */
  readonly socket?: string;
  /** As the identity's `fingerprint` says. Default `"sha256"`. */
  readonly fingerprint?: "sha256" | "seed";
  /** As the identity's `ipv6Prefix` says. Default 64. */
  readonly ipv6Prefix?: number;
  /** Who says the client's address where HAProxy itself stands behind a proxy. Default nobody: it is the connection's. */
  readonly client?: HaproxyClientSource;
}

export interface HaproxyClientSource {
  /** Its last address is the client's: `X-Forwarded-For`. */
  readonly header: string;
  /** Addresses and blocks of the proxies whose word is believed. */
  readonly from: readonly string[];
}

/** One file: rules for each frontend, and in its head what else has to be there. */
export function renderHaproxy(options: HaproxyRenderOptions = {}): Rendered {
  const { maps = "/etc/haproxy/tidegate", socket = "/run/haproxy/admin.sock" } = options;
  const { fingerprint = "sha256", ipv6Prefix = 64, client } = options;
  if (!isMapFolder(maps))
    throw wrong("maps", "Write it whole, of letters, digits, dots and dashes: /etc/haproxy/tidegate.");
  if (fingerprint !== "sha256" && fingerprint !== "seed") throw wrong("fingerprint", "Write sha256 or seed.");
  if (!Number.isInteger(ipv6Prefix) || ipv6Prefix < 1 || ipv6Prefix > 128)
    throw wrong("ipv6Prefix", "Write a whole number from 1 to 128.");
  const { digests, addresses, mode } = mapPaths(maps);
  const { standard, broad, hash } = texts[fingerprint];
  const find = `map_str(${digests})`;

  const text = `# Tidegate: HAProxy 2.6 or later. It has no includes: these lines go into each frontend (mode http), above its other rules.
#
# Before HAProxy starts the maps have to be there, even if empty:
#
#   mkdir -p ${maps} && touch ${digests} ${addresses} ${mode}
#
# And in \`global\`, so that Tidegate can tell it who is held. Whoever can open it can do the same, and more:
#
#   stats socket ${statsSocket(socket)}

    # Only we say these.
    http-request del-header X-Reject
    http-request del-header Tidegate-Edge

    # The client's address in its one spelling: IPv4 within IPv6 is IPv4.
    http-request set-var(txn.tidegate_address) src
${client === undefined ? "" : `${believe(client)}\n`}    http-request set-var(txn.tidegate_address) var(txn.tidegate_address),bytes(12,4),be2dec(.,1) if { var(txn.tidegate_address),bytes(0,12),hex 00000000000000000000FFFF 0064FF9B0000000000000000 }
    http-request set-var-fmt(txn.tidegate_address) '::%[var(txn.tidegate_address),bytes(12,2),hex,lower,regsub("^0+","")]:%[var(txn.tidegate_address),bytes(14,2),hex,lower,regsub("^0{1,3}","")]' if { var(txn.tidegate_address),bytes(0,12),hex 000000000000000000000000 } !{ var(txn.tidegate_address),bytes(12,2),hex 0000 }

    # Fingerprints as Tidegate counts them.
    http-request set-var(txn.tidegate_host) str()
    http-request set-var(txn.tidegate_host) 'req.fhdr(host,1),lower,regsub("^([[].*[]]|[^:[][^:]*):[0-9]*$","\\1")'
    http-request set-var(txn.tidegate_path) str(/)
    http-request set-var(txn.tidegate_path) str(*) if { url -m str * }
    http-request set-var(txn.tidegate_path) 'path,field(1,"#")'
    # http://host?query has none, whatever follows. HTTP/2 tells both apart.
    http-request set-var(txn.tidegate_path) str(/) if { req.ver -m beg 1 } !{ url_beg / } { url_reg '^[^/?#]+://[^/?#]*[?#]' }
    http-request set-var(txn.tidegate_method) method,upper
    http-request set-var(txn.tidegate_method) str(GET) if { var(txn.tidegate_method) -m str HEAD }
    http-request set-var(txn.tidegate_agent) str()
    http-request set-var(txn.tidegate_agent) req.fhdr(user-agent,1)
    http-request set-var-fmt(txn.tidegate_broad) "${broad}"
    http-request set-var-fmt(txn.tidegate_standard) "${standard}"

    # Held: the value is a second still to come, or "true". Standard, then address and networks, then broad.
    # HAProxy finds the smallest block: one that has ended must not hide the next.
    acl tidegate_held var(txn.tidegate_until) -m str true
    acl tidegate_held 'var(txn.tidegate_until),regsub("^(.*[^0-9].*|.{13,})$","0"),sub(txn.tidegate_now)' -m int gt 0
    http-request set-var(txn.tidegate_now) date()
    http-request set-var(txn.tidegate_until) var(txn.tidegate_standard),${hash},hex,lower,${find}
    http-request set-var(txn.tidegate_until) var(txn.tidegate_address),map_ip(${addresses}) unless tidegate_held
    http-request set-var(txn.tidegate_until) var(txn.tidegate_address),ipmask(32,${ipv6Prefix}),map_ip(${addresses}) unless tidegate_held
    http-request set-var(txn.tidegate_until) var(txn.tidegate_address),ipmask(24,48),map_ip(${addresses}) unless tidegate_held
    http-request set-var(txn.tidegate_until) var(txn.tidegate_broad),${hash},hex,lower,${find} unless tidegate_held

    # The mode: on, shadow or off.
    http-request set-var(txn.tidegate_mode) str(mode),map_str(${mode},on)
    http-request set-header Tidegate-Edge would-refuse if tidegate_held { var(txn.tidegate_mode) -m str shadow }
    http-request set-var(txn.tidegate_wait) var(txn.tidegate_until),sub(txn.tidegate_now)
    http-request set-var(txn.tidegate_wait) int(60) if { var(txn.tidegate_until) -m str true }
    http-request return status 429 content-type text/html string "<h1>Too Many Requests</h1>" hdr Retry-After "%[var(txn.tidegate_wait)]" hdr Cache-Control no-store if tidegate_held !{ var(txn.tidegate_mode) -m str off shadow }
`;
  return { files: [{ name: "tidegate-haproxy.cfg", text }] };
}

/** A path only its group may open, or a port, which every user of the machine can. */
function statsSocket(socket: string): string {
  if (/^(?:[\w.-]+|\[[\da-fA-F:.]+\]):\d{1,5}$/.test(socket)) return `${socket} level admin`;
  if (/^\/[\w./-]{1,200}$/.test(socket)) return `${socket} mode 660 group haproxy level admin`;
  throw wrong("socket", "Write a path of letters, digits, dots and dashes, or host:port.");
}

/** What is hashed, in HAProxy's words: see the library's fingerprints. */
const texts = {
  sha256: {
    standard: `${part("host")}${part("path")}${part("method")}%[var(txn.tidegate_broad)]`,
    broad: `${part("address")}${part("agent")}`,
    hash: "sha2(256)",
  },
  seed: {
    standard: `${value("host")}:${value("path")}:${value("method")}:%[var(txn.tidegate_broad)]`,
    broad: `${value("address")}:${value("agent")}`,
    hash: "sha1",
  },
};

function part(name: string): string {
  return `%[var(txn.tidegate_${name}),length]:${value(name)}`;
}

function value(name: string): string {
  return `%[var(txn.tidegate_${name})]`;
}

function believe({ header, from }: HaproxyClientSource): string {
  if (!/^[a-z][a-z0-9-]{0,63}$/i.test(header))
    throw wrong("client.header", "Write the name of a header, letters, digits and dashes.");
  if (
    from.length === 0 ||
    !from.every((block) => /^[0-9a-f:.]+(?:\/\d{1,3})?$/.test(block) && isBlock(block))
  )
    throw wrong("client.from", "Write addresses and blocks of the proxies in front: 10.0.0.0/8.");
  return `    http-request set-var(txn.tidegate_address) req.hdr_ip(${header},-1) if { src ${from.join(" ")} }`;
}
