import { type AskOptions, parseAsk, type Rendered, untoldComment, untoldNote, wrong } from "./rendered.js";

const sayWho = [
  "# Who is logged in is not the client's to say. What nginx knows may stand here instead of nothing:",
  "# $ssl_client_s_dn, or $remote_user where auth_basic is on.",
];

export interface NginxAuthOptions extends AskOptions {
  /**
   * Where nginx keeps refusals, so that it repeats them by itself. nginx makes the last folder, its parent has to be there. Default
   * `/var/cache/tidegate-nginx`.
   */
  readonly cachePath?: string;
}

/** Three files: for the `http` block, for a `server` block, and for each `location` to be guarded. */
export function renderNginxAuth(options: NginxAuthOptions): Rendered {
  const { scheme, authority, timeoutMs, identify, untold } = parseAsk(options);
  const { cachePath = "/var/cache/tidegate-nginx" } = options;
  if (!/^\/[\w./-]{1,200}$/.test(cachePath) || cachePath.includes(".."))
    throw wrong("cachePath", "Write an absolute path of letters, digits, dots, dashes and slashes.");
  const connectMs = Math.max(1, Math.ceil(timeoutMs / 2));
  const blanked = [
    ...(identify.length > 0 ? sayWho : []),
    ...identify.map((name) => `proxy_set_header ${name} "";`),
    ...untoldComment(untold, 'proxy_set_header <its name> "";'),
  ].map((line) => `\n    ${line}`);

  const http = `# Tidegate: once, inside http { }
upstream tidegate {
    server ${authority};
    keepalive 32;
}
# Refusals that hold for an address on every path; the decision service says which and for how long (seconds).
proxy_cache_path ${cachePath} levels=1:2 keys_zone=tidegate:10m max_size=50m inactive=1m use_temp_path=off;
`;

  const server = `# Tidegate: inside each server { } that has guarded locations
location = /_tidegate_auth {
    internal;
    auth_request off;
    proxy_pass ${scheme}://tidegate/v1/auth?for=nginx;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host ${authority};

    # The facts are nginx's own: whatever a client sends under these names is replaced.
    proxy_set_header X-Original-URI $request_uri;
    proxy_set_header X-Original-Method $request_method;
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-Host $http_host;${blanked.length > 0 ? "\n" : ""}${blanked.join("")}

    # The client's, not ours to judge a caller by.
    proxy_set_header Origin "";
    proxy_set_header Sec-Fetch-Site "";
    proxy_pass_request_body off;
    proxy_set_header Content-Length "";
    proxy_set_header Content-Type "";

    # nginx repeats a refusal as long as X-Accel-Expires says. Nothing else is kept.
    proxy_cache tidegate;
    proxy_cache_key $remote_addr;

    # No answer in time: the request passes.
    proxy_connect_timeout ${connectMs}ms;
    proxy_send_timeout ${timeoutMs}ms;
    proxy_read_timeout ${timeoutMs}ms;
    proxy_buffer_size 16k;
    proxy_buffers 4 16k;
    proxy_intercept_errors on;
    error_page 500 502 503 504 =204 @tidegate_open;
}
location @tidegate_open {
    auth_request off;
    return 204;
}
# auth_request knows 403 alone; here it becomes what was meant.
location @tidegate_refused {
    auth_request off;
    default_type application/problem+json;
    add_header Retry-After $tidegate_retry_after always;
    add_header RateLimit $tidegate_ratelimit always;
    add_header RateLimit-Policy $tidegate_ratelimit_policy always;
    add_header Tidegate-Decision $tidegate_decision always;
    add_header Cache-Control no-store always;
    if ($tidegate_status = 429) {
        return 429 '{"type":"about:blank","title":"Too many requests","status":429,"decision":"$tidegate_decision"}';
    }
    if ($tidegate_status = 503) {
        return 503 '{"type":"about:blank","title":"Too many requests","status":503,"decision":"$tidegate_decision"}';
    }
    return 403 '{"type":"about:blank","title":"Forbidden","status":403}';
}
`;

  const location = `# Tidegate: inside each location { } to be guarded, or inside server { } for all
auth_request /_tidegate_auth;
auth_request_set $tidegate_status $upstream_http_x_tidegate_status;
auth_request_set $tidegate_retry_after $upstream_http_retry_after;
auth_request_set $tidegate_ratelimit $upstream_http_ratelimit;
auth_request_set $tidegate_ratelimit_policy $upstream_http_ratelimit_policy;
auth_request_set $tidegate_decision $upstream_http_tidegate_decision;
error_page 403 = @tidegate_refused;
# A location with add_header of its own inherits none: repeat these there.
add_header RateLimit $tidegate_ratelimit always;
add_header RateLimit-Policy $tidegate_ratelimit_policy always;
add_header Tidegate-Decision $tidegate_decision always;
`;

  return {
    ...untoldNote(untold),
    files: [
      { name: "tidegate-http.conf", text: http },
      { name: "tidegate-server.conf", text: server },
      { name: "tidegate-location.conf", text: location },
    ],
  };
}
