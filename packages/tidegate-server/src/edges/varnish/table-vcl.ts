import type { VarnishNames } from "./varnish-options.js";

/** The cache as a table: a client is looked up by one restart after the other, and held in each way a request can take. */
export function tableVcl({ listener, storage, graceSeconds, ipv6Prefix }: VarnishNames): string {
  return `sub vcl_recv {
  if (req.restarts == 0) {
    call tidegate_ours;
  }
  if (local.socket == "${listener}") {
    call tidegate_order;
  }
  if (req.restarts == 0) {
    call tidegate_first;
    call tidegate_look;
  } elseif (req.http.X-Tidegate-Step) {
    # Restarted by you: what was found still holds.
    set req.http.X-Tidegate-Step = "again";
  } elseif (req.http.X-Reject == "address") {
    call tidegate_address;${ipv6Prefix === 64 ? "\n    call tidegate_block;" : ""}
    set req.url = "/tidegate/" + req.http.Host;
    call tidegate_look;
  } elseif (req.http.X-Reject == "broad") {
    call tidegate_broad;
    call tidegate_look;
  } elseif (req.http.X-Reject ~ "^mode ") {
    set req.url = "/tidegate/mode";
    call tidegate_look;
  } elseif (req.http.X-Reject ~ "^(?:free|shadow|held [0-9]+)$") {
    call tidegate_looked;
  } else {
    call tidegate_too_much;
  }${
    graceSeconds === undefined
      ? ""
      : `
  # Pages are kept for those who are held: everybody else gets them as fresh as before.
  set req.grace = 10s;`
  }
}

sub vcl_hash {
  if (req.http.X-Tidegate-Url) {
    # A line break is in no URL and no header: nobody else's hash is like it.
    hash_data({"tidegate
table"});
    hash_data(req.url);
    return (lookup);
  }
  if (req.http.X-Tidegate-Key) {
    hash_data({"tidegate
table"});
    hash_data("/tidegate/" + req.http.X-Tidegate-Key);
    return (lookup);
  }
  if (req.http.X-Reject) {
    # Whatever is there will do, however old, and nothing is waited for.
    set req.grace = 3650d;
    set req.hash_always_miss = false;
    set req.hash_ignore_busy = true;
  }
}

sub vcl_hit {
  if (req.http.X-Tidegate-Key) {
    call tidegate_order_hit;
  }
  if (req.http.X-Tidegate-Url) {
    if (req.http.X-Reject !~ "^mode ") {
      if (obj.http.X-Tidegate-Value == "true") {
        set req.http.X-Reject = "mode 59";
      } else {
        set req.http.X-Reject = "mode " + std.integer(duration=obj.ttl, fallback=0);
      }
    } elseif (obj.http.X-Tidegate-Value == "off") {
      set req.http.X-Reject = "free";
    } elseif (obj.http.X-Tidegate-Value == "shadow") {
      set req.http.X-Reject = "shadow";
    } else {
      set req.http.X-Reject = regsub(req.http.X-Reject, "^mode", "held");
    }
    return (restart);
  }
}

sub vcl_miss {
  if (req.http.X-Tidegate-Key) {
    call tidegate_order_miss;
  }
  if (req.http.X-Tidegate-Url) {
    if (req.http.X-Reject == "standard") {
      set req.http.X-Reject = "address";
    } elseif (req.http.X-Reject == "address") {
      set req.http.X-Reject = "broad";
    } elseif (req.http.X-Reject == "broad") {
      set req.http.X-Reject = "free";
    } else {
      # Nobody set a mode.
      set req.http.X-Reject = regsub(req.http.X-Reject, "^mode", "held");
    }
    return (restart);
  }
  # Nothing cached: the backend is not asked.
  if (req.http.X-Reject) {
    return (synth(601, "Held"));
  }
}

# What is never cached, hit-for-pass among it.
sub vcl_pass {
  if (req.http.X-Reject) {
    return (synth(601, "Held"));
  }
}

sub vcl_pipe {
  if (req.http.X-Reject) {
    return (synth(601, "Held"));
  }
${bereqUnsets}
}

sub vcl_backend_fetch {
  # A stale page is served as it is: its renewal is for others to ask for.
  if (bereq.http.X-Reject) {
    return (abandon);
  }
  # Entries are made here, and not fetched.
  if (bereq.http.X-Tidegate-Key) {
    return (error(200, "OK"));
  }
${bereqUnsets}
}
${
  graceSeconds === undefined
    ? ""
    : `
sub vcl_backend_response {
  if (beresp.ttl > 0s && beresp.grace < ${graceSeconds}s) {
    set beresp.grace = ${graceSeconds}s;
  }
}
`
}
sub vcl_backend_error {
  if (bereq.http.X-Tidegate-Key) {
    set beresp.http.X-Tidegate-Value = bereq.http.X-Tidegate-Value;
    set beresp.ttl = 3650d;
    if (bereq.http.X-Tidegate-Value ~ "^[0-9]+$" && bereq.http.X-Tidegate-Key !~ "^(?:marker|writer)$") {
      set beresp.ttl = std.time(bereq.http.X-Tidegate-Value, now) - now;
    }
    set beresp.grace = 0s;
    set beresp.keep = 0s;${storage === undefined ? "" : `\n    set beresp.storage = storage.${storage};`}
    synthetic("");
    return (deliver);
  }
}

sub vcl_synth {
  if (local.socket == "${listener}") {
    call tidegate_order_synth;
  }
  if (resp.status == 601 && req.http.X-Reject) {
    set resp.status = 429;
    set resp.reason = "Too Many Requests";
    set resp.http.Content-Type = "text/html";
    # Rounded down: a second more is never too short.
    set resp.http.Retry-After = std.integer(req.http.X-Tidegate-Left, 0) + 1;
    set resp.http.Cache-Control = "no-store";
    synthetic("<h1>Too Many Requests</h1>");
    return (deliver);
  }
}

sub vcl_deliver {
  if (local.socket == "${listener}") {
    unset resp.http.X-Tidegate-Value;
    return (deliver);
  }
}
`;
}

/** What is left of ours when a backend is asked. */
const bereqUnsets = ["Step", "Left"].map((name) => `  unset bereq.http.X-Tidegate-${name};`).join("\n");
