import { type Rendered, wrong } from "../rendered.js";
import { confName, isPrefix, shardCounts, shardDigits, shardNames } from "./shards.js";

export interface FastlyRenderOptions {
  /** As in the edge's settings. Default `tidegate`. */
  readonly prefix?: string;
  /** As in the edge's settings. Default 16. */
  readonly shards?: number;
  /** As the identity's `fingerprint` says. Default `"sha256"`. */
  readonly fingerprint?: "sha256" | "seed";
  /** Where the service tells its canary. Default `/.tidegate/canary`. */
  readonly canaryPath?: string;
}

/** Where each one-line call goes: first in the subroutine of that name. */
export const fastlyCalls: readonly FastlyCall[] = ["recv", "miss", "pass", "error"];
export type FastlyCall = "recv" | "miss" | "pass" | "error";

/** One file to include, and the one-line calls it needs, told in its head. */
export function renderFastly(options: FastlyRenderOptions = {}): Rendered {
  const {
    prefix = "tidegate",
    shards = 16,
    fingerprint = "sha256",
    canaryPath = "/.tidegate/canary",
  } = options;
  if (!isPrefix(prefix))
    throw wrong("prefix", "Write letters, digits and underscores, a letter first, 64 at most.");
  if (!shardCounts.includes(shards)) throw wrong("shards", "Write 1, 2, 4, 8 or 16.");
  if (fingerprint !== "sha256" && fingerprint !== "seed") throw wrong("fingerprint", "Write sha256 or seed.");
  if (!/^\/[\w./-]{1,200}$/.test(canaryPath))
    throw wrong("canaryPath", "Write a path of letters, digits, dots, dashes and slashes.");
  const texts = fingerprint === "seed" ? seedTexts : sha256Texts;

  const text = `# Tidegate: include this file above your subroutines, and call it first in each of these four:
#
#   include "tidegate";
${fastlyCalls.map((name) => `#   sub vcl_${name} { call ${prefix}_${name}; … }`).join("\n")}
#
# \`tidegate edge setup fastly\` does that by snippets, and creates the dictionaries: ${shardNames(prefix, shards).join(", ")}
# (who is held: the second it ends, or "true") and ${confName(prefix)} (mode: on, shadow or off).

# Who is asked for stands in Tidegate-Key, what picks his dictionary in Tidegate-Digest. Sets X-Reject and Tidegate-Wait.
sub ${prefix}_look {
  declare local var.found STRING;
  declare local var.wait INTEGER;
${lookUp(prefix, shards)}
  if (var.found == "true") {
    set req.http.X-Reject = "true";
    set req.http.Tidegate-Wait = "60";
  } elseif (var.found ~ "^[0-9]{1,12}$") {
    set var.wait = std.atoi(var.found);
    set var.wait -= std.atoi(now.sec);
    if (var.wait > 0) {
      set req.http.X-Reject = "true";
      set req.http.Tidegate-Wait = std.itoa(var.wait);
    }
  }
}

# Standard, then address and networks, then broad: as Tidegate counts them.
sub ${prefix}_judge {
  declare local var.host STRING;
  declare local var.path STRING;
  declare local var.method STRING;
  declare local var.address STRING;
  declare local var.agent STRING;
  declare local var.network STRING;

  set var.host = regsub(std.tolower(if(req.http.Host, req.http.Host, "")), "^(\\[.*\\]|[^:\\[][^:]*):[0-9]*$", "\\1");
  set var.path = regsub(req.url, "[?#].*$", "");
  set var.method = regsub(std.toupper(req.method), "^HEAD$", "GET");
  set var.address = client.ip;
  set var.agent = if(req.http.User-Agent, req.http.User-Agent, "");

  set req.http.Tidegate-Key = ${texts.standard};
  set req.http.Tidegate-Digest = req.http.Tidegate-Key;
  call ${prefix}_look;

  if (!req.http.X-Reject) {
    set req.http.Tidegate-Key = var.address;
    set req.http.Tidegate-Digest = digest.hash_sha256(req.http.Tidegate-Key);
    call ${prefix}_look;
  }
  if (addr.is_ipv6(client.ip)) {
    # The first four groups, then three, without the zeros at their end: 2001:db8:1:2::/64, 2001:db8:1::/48, 2001:db8::/48.
    set var.network = std.itoa(addr.extract_bits(client.ip, 112, 16), 16) ":"
      std.itoa(addr.extract_bits(client.ip, 96, 16), 16) ":"
      std.itoa(addr.extract_bits(client.ip, 80, 16), 16);
    set req.http.Tidegate-Key = var.network ":" std.itoa(addr.extract_bits(client.ip, 64, 16), 16);
    set req.http.Tidegate-Key = regsub(req.http.Tidegate-Key, "(:0)+$", "") "::/64";
    set req.http.Tidegate-Digest = digest.hash_sha256(req.http.Tidegate-Key);
    if (!req.http.X-Reject) {
      call ${prefix}_look;
    }
    set req.http.Tidegate-Key = regsub(var.network, "(:0)+$", "") "::/48";
  } else {
    set req.http.Tidegate-Key = regsub(var.address, "[0-9]+$", "0/24");
  }
  if (!req.http.X-Reject) {
    set req.http.Tidegate-Digest = digest.hash_sha256(req.http.Tidegate-Key);
    call ${prefix}_look;
  }
  if (!req.http.X-Reject) {
    set req.http.Tidegate-Key = ${texts.broad};
    set req.http.Tidegate-Digest = req.http.Tidegate-Key;
    call ${prefix}_look;
  }
  unset req.http.Tidegate-Key;
  unset req.http.Tidegate-Digest;
}

sub ${prefix}_recv {
  # After a restart what was found first still holds: the URL may be another one by now.
  if (req.restarts == 0) {
    # Only we say these.
    unset req.http.X-Reject;
    unset req.http.Tidegate-Wait;
    # A shield hears of the client what the first one found.
    if (fastly.ff.visits_this_service == 0) {
      unset req.http.Tidegate-Edge;
      if (req.url.path == "${canaryPath}") {
        error 601 "tidegate canary";
      }
      if (table.lookup(${confName(prefix)}, "mode", "on") != "off") {
        call ${prefix}_judge;
      }
      if (req.http.X-Reject && table.lookup(${confName(prefix)}, "mode", "on") == "shadow") {
        unset req.http.X-Reject;
        unset req.http.Tidegate-Wait;
        set req.http.Tidegate-Edge = "would-refuse";
      }
    }
  }
  # What is cached answers a GET or HEAD, and nothing else.
  if (req.http.X-Reject && req.method != "GET" && req.method != "HEAD") {
    error 601 "tidegate held";
  }
}

# Nothing cached, or nothing that may be cached: the origin is not asked.
sub ${prefix}_miss {
  if (req.http.X-Reject) {
    error 601 "tidegate held";
  }
}

sub ${prefix}_pass {
  if (req.http.X-Reject) {
    error 601 "tidegate held";
  }
}

# 601 is also what others use: ours is known by its text, and never reaches a client.
sub ${prefix}_error {
  if (obj.status == 601 && obj.response == "tidegate held") {
    if (stale.exists && (req.method == "GET" || req.method == "HEAD")) {
      return(deliver_stale);
    }
    set obj.status = 429;
    set obj.response = "Too Many Requests";
    set obj.http.Content-Type = "text/html";
    set obj.http.Retry-After = if(req.http.Tidegate-Wait, req.http.Tidegate-Wait, "1");
    set obj.http.Cache-Control = "no-store";
    synthetic {"<h1>Too Many Requests</h1>"};
    return(deliver);
  }
  if (obj.status == 601 && obj.response == "tidegate canary") {
    set obj.status = 200;
    set obj.response = "OK";
    set obj.http.Content-Type = "text/plain";
    set obj.http.Cache-Control = "no-store";
    synthetic table.lookup(${confName(prefix)}, "canary", "0");
    return(deliver);
  }
}
`;
  return { files: [{ name: "tidegate.vcl", text }] };
}

function lookUp(prefix: string, shards: number): string {
  return shardNames(prefix, shards)
    .map((table, shard) => {
      const line = `set var.found = table.lookup(${table}, req.http.Tidegate-Key, "");`;
      if (shards === 1) return `  ${line}`;
      const condition = `if (req.http.Tidegate-Digest ~ "^${shardDigits(shard, shards)}") {`;
      return `  ${shard === 0 ? "" : "} else"}${condition}\n    ${line}${shard === shards - 1 ? "\n  }" : ""}`;
    })
    .join("\n");
}

const sized = (name: string): string => `std.itoa(std.strlen(var.${name})) ":" var.${name}`;

/** The library's fingerprints, byte for byte. */
const sha256Texts = {
  standard: `digest.hash_sha256(${["host", "path", "method", "address", "agent"].map(sized).join(" ")})`,
  broad: `digest.hash_sha256(${["address", "agent"].map(sized).join(" ")})`,
};
const seedTexts = {
  standard: `digest.hash_sha1(var.host ":" var.path ":" var.method ":" var.address ":" var.agent)`,
  broad: `digest.hash_sha1(var.address ":" var.agent)`,
};
