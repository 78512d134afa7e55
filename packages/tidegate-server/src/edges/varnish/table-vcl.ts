import type { VarnishNames } from "./varnish-options.js";

/** The cache as a table: a client is looked up by one restart after the other, and held in each way a request can take. */
export function tableVcl({ listener, storage, graceSeconds }: VarnishNames): string {
  return `# What a request is looked up by now. Content is banned by URL and host: an entry has neither of a client.
sub tidegate_look {
  if (req.http.X-Tidegate-Step == "standard") {
    set req.http.X-Tidegate-Key = req.http.X-Tidegate-Standard;
  } elseif (req.http.X-Tidegate-Step == "address") {
    set req.http.X-Tidegate-Key = req.http.X-Tidegate-Address;
  } elseif (req.http.X-Tidegate-Step == "broad") {
    set req.http.X-Tidegate-Key = req.http.X-Tidegate-Broad;
  } else {
    set req.http.X-Tidegate-Key = "mode";
  }
  set req.url = "/tidegate/" + req.http.X-Tidegate-Key;
  set req.http.Host = "tidegate";
  set req.hash_ignore_busy = true;
  return (hash);
}

# Looked up: from here on it is the client's request again.
sub tidegate_looked {
  set req.url = req.http.X-Tidegate-Url;
  unset req.http.Host;
  if (req.http.X-Tidegate-Host) {
    set req.http.Host = req.http.X-Tidegate-Host;
  }
  unset req.http.X-Tidegate-Key;
  unset req.http.X-Tidegate-Url;
  unset req.http.X-Tidegate-Host;
  unset req.http.X-Tidegate-Standard;
  unset req.http.X-Tidegate-Address;
  unset req.http.X-Tidegate-Broad;
  set req.http.X-Tidegate-Step = "first";
  # What is cached answers a GET or HEAD, and nothing else.
  if (req.http.X-Reject && req.method != "GET" && req.method != "HEAD") {
    return (synth(601, "Held"));
  }
}

sub vcl_recv {
  if (req.restarts == 0) {
    # Only we say these.
    unset req.http.X-Reject;
    unset req.http.Tidegate-Edge;
${clientUnsets}
  }
  if (local.socket == "${listener}") {
    call tidegate_order;
  }
  if (req.restarts == 0) {
    call tidegate_fingerprints;
    set req.http.X-Tidegate-Step = "standard";
    call tidegate_look;
  } elseif (req.http.X-Tidegate-Step == "looked") {
    call tidegate_looked;
  } elseif (req.http.X-Tidegate-Step == "first" || req.http.X-Tidegate-Step == "again") {
    # Restarted by you: what was found still holds.
    set req.http.X-Tidegate-Step = "again";
  } else {
    call tidegate_look;
  }${
    graceSeconds === undefined
      ? ""
      : `
  # Pages are kept for those who are held: everybody else gets them as fresh as before.
  set req.grace = 10s;`
  }
}

sub vcl_hash {
  if (req.http.X-Tidegate-Key) {
    # A line break is in no URL and no header: nobody else's hash is like it.
    hash_data({"tidegate
table"});
    hash_data(req.http.X-Tidegate-Key);
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
  if (req.http.X-Tidegate-Step == "order") {
    call tidegate_order_hit;
  }
  if (req.http.X-Tidegate-Key) {
    if (req.http.X-Tidegate-Step != "mode") {
      set req.http.X-Tidegate-Left = std.integer(duration=obj.ttl, fallback=0);
      if (obj.http.X-Tidegate-Value == "true") {
        set req.http.X-Tidegate-Left = "59";
      }
      set req.http.X-Tidegate-Step = "mode";
      return (restart);
    }
    if (obj.http.X-Tidegate-Value == "on") {
      set req.http.X-Reject = "true";
    } elseif (obj.http.X-Tidegate-Value == "shadow") {
      set req.http.Tidegate-Edge = "would-refuse";
    }
    set req.http.X-Tidegate-Step = "looked";
    return (restart);
  }
}

sub vcl_miss {
  if (req.http.X-Tidegate-Step == "order") {
    call tidegate_order_miss;
  }
  if (req.http.X-Tidegate-Key) {
    if (req.http.X-Tidegate-Step == "standard") {
      set req.http.X-Tidegate-Step = "address";
    } elseif (req.http.X-Tidegate-Step == "address") {
      set req.http.X-Tidegate-Step = "broad";
    } else {
      if (req.http.X-Tidegate-Step == "mode") {
        # Nobody set one.
        set req.http.X-Reject = "true";
      }
      set req.http.X-Tidegate-Step = "looked";
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

/** Ours, and nobody else's. */
const internal = [
  "Step",
  "Key",
  "Value",
  "Found",
  "Left",
  "Purged",
  "Url",
  "Host",
  "Name",
  "Path",
  "Standard",
  "Address",
  "Broad",
];
const clientUnsets = internal.map((name) => `    unset req.http.X-Tidegate-${name};`).join("\n");
/** What is left of them when a backend is asked. */
const bereqUnsets = ["Step", "Left"].map((name) => `  unset bereq.http.X-Tidegate-${name};`).join("\n");
