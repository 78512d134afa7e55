/** Ours, and nobody else's. */
const internal = ["Step", "Key", "Value", "Found", "Left", "Purged", "Url", "Host"];
const clientUnsets = internal.map((name) => `  unset req.http.X-Tidegate-${name};`).join("\n");

/** How a look begins and ends, and what is set meanwhile. */
export const lookVcl = `# Only we say these.
sub tidegate_ours {
  unset req.http.X-Reject;
  unset req.http.Tidegate-Edge;
${clientUnsets}
}

# A request has room for so many headers, and beyond it what is set is lost without a word. So everybody is held from the first moment:
# X-Reject stands until nothing was found. Meanwhile it says what is looked for.
sub tidegate_first {
  set req.http.X-Reject = "standard";
  if (!req.http.Host) {
    if (req.proto == "HTTP/1.1") {
      return (synth(400, "Bad Request"));
    }
    # The backend would be told one we do not know.
    set req.http.Host = regsub("" + server.ip, "^(.*:.*)$", "[\\1]");
  }
  set req.http.X-Tidegate-Host = req.http.Host;
  set req.http.X-Tidegate-Url = req.url;
  # The last one fits only if all do.
  if (req.http.X-Tidegate-Url != req.url) {
    call tidegate_too_much;
  }
  call tidegate_standard;
}

# What did not fit would make it a 500, so all that was set is taken back. Should you restart it, it ends here again.
sub tidegate_too_much {
  std.rollback(req);
  call tidegate_ours;
  return (synth(431, "Request Header Fields Too Large"));
}

# Content is banned by URL and host: here they are of no client.
sub tidegate_look {
  set req.http.Host = "tidegate";
  set req.hash_ignore_busy = true;
  return (hash);
}

# Looked up: from here on it is the client's request again.
sub tidegate_looked {
  set req.url = req.http.X-Tidegate-Url;
  set req.http.Host = req.http.X-Tidegate-Host;
  if (req.http.Host != req.http.X-Tidegate-Host) {
    call tidegate_too_much;
  }
  unset req.http.X-Tidegate-Url;
  unset req.http.X-Tidegate-Host;
  if (req.http.X-Reject == "free") {
    unset req.http.X-Reject;
  } elseif (req.http.X-Reject == "shadow") {
    unset req.http.X-Reject;
    set req.http.Tidegate-Edge = "would-refuse";
  } else {
    set req.http.X-Tidegate-Left = regsub(req.http.X-Reject, "^held ", "");
    set req.http.X-Reject = "true";
  }
  set req.http.X-Tidegate-Step = "first";
  # What is cached answers a GET or HEAD, and nothing else.
  if (req.http.X-Reject && req.method != "GET" && req.method != "HEAD") {
    return (synth(601, "Held"));
  }
}
`;
