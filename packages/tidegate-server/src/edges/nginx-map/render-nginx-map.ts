import { type Rendered, wrong } from "../rendered.js";

export interface NginxMapOptions {
  /** The edge's `file`. Default `/etc/nginx/tidegate/held.conf`. */
  readonly file?: string;
}

/** Three files: for the `http` block, for `server` blocks, and for locations that pass requests on. */
export function renderNginxMap({ file = "/etc/nginx/tidegate/held.conf" }: NginxMapOptions = {}): Rendered {
  if (!/^\/[\w./-]{1,200}$/.test(file) || file.includes("..") || file.endsWith("/"))
    throw wrong("file", "Write an absolute path of letters, digits, dots, dashes and slashes.");

  const http = `# Tidegate: once, inside http { }
# Who is held, and until when: "1700000000 Tue, 14 Nov 2023 22:13:20 GMT", or true for as long as it stands here.
# The file has to be there, empty to begin with.
geo $tidegate_entry {
    default "";
    include ${file};
}
map $tidegate_entry $tidegate_held {
    "" 0;
    true 1;
    default $tidegate_lasts;
}
# An entry ends by itself: now is before its end if after the same digits comes a smaller one.
map "$msec|$tidegate_entry" $tidegate_lasts {
    default 0;
${comparisons().join("\n")}
}
# on, shadow or off. A pattern, so that nginx starts without the file: then it is on.
map "" $tidegate_mode {
    default on;
    include ${file}.mod[e];
}
map "$tidegate_mode $tidegate_held" $tidegate_refused {
    default 0;
    "on 1" 1;
}
map "$tidegate_mode $tidegate_held" $tidegate_mark {
    default "";
    "shadow 1" would-refuse;
}
map $tidegate_entry $tidegate_held_until {
    default 60;
    "~^\\d+ (?<tidegate_date>.+)$" $tidegate_date;
}
`;

  const server = `# Tidegate: inside each server { } to be guarded, before its own rewrites and returns
if ($tidegate_refused) {
    rewrite ^ /_tidegate_held last;
}
location = /_tidegate_held {
    internal;
    default_type text/html;
    charset off;
    gzip off;
    expires off;
    add_header Retry-After $tidegate_held_until always;
    add_header Cache-Control no-store always;
    return 429 "<h1>Too Many Requests</h1>";
}
`;

  const location = `# Tidegate: inside each location { } with a proxy_pass, beside its own proxy_set_header
# What a client sends under these names does not get through; in shadow the first says who would be refused.
proxy_set_header Tidegate-Edge $tidegate_mark;
proxy_set_header X-Reject "";
`;

  return {
    files: [
      { name: "tidegate-map-http.conf", text: http },
      { name: "tidegate-map-server.conf", text: server },
      { name: "tidegate-map-location.conf", text: location },
    ],
  };
}

/** nginx can not calculate. Both have ten digits before the point or blank. */
function comparisons(): string[] {
  return Array.from({ length: 9 }, (_, digit) => {
    const higher = digit === 8 ? "[9]" : `[${digit + 1}-9]`;
    return `    "~^(\\d*)${digit}\\d*\\.\\d+\\|(?=\\d{10}\\b)\\1${higher}" 1;`;
  });
}
