import { type AskOptions, parseAsk, type Rendered, untoldComment, untoldNote } from "./rendered.js";

/** One file with two snippets: `import tidegate` guards a site, `import tidegate_open <app>` lets it open when nobody decides. */
export function renderCaddy(options: AskOptions): Rendered {
  const { scheme, authority, timeoutMs, identify, untold } = parseAsk(options);
  const connectMs = Math.max(1, Math.ceil(timeoutMs / 2));
  const blanked = [
    ...(identify.length > 0
      ? [
          "# Nor is who is logged in. What Caddy knows may be set instead: header_up <name> {http.auth.user.id}",
        ]
      : []),
    ...identify.map((name) => `header_up -${name}`),
    ...untoldComment(untold, "header_up -<its name>"),
  ].map((line) => `\n\t\t\t${line}`);
  const text = `# Tidegate: at the top of the Caddyfile, or \`import tidegate.caddy\`. Then in each site:
#
#	example.com {
#		import tidegate
#		import tidegate_open 127.0.0.1:3000
#		reverse_proxy 127.0.0.1:3000
#	}
#
# Where a site has handle blocks, \`import tidegate\` stands first inside each of them.
(tidegate) {
	route {
		# Only the decision service says these.
		request_header -Tidegate-Decision
		request_header -RateLimit
		request_header -RateLimit-Policy
		forward_auth ${scheme}://${authority} {
			uri /v1/auth/caddy
			header_up Host ${authority}
			# The client's, not ours to judge a caller by.
			header_up -Origin
			header_up -Sec-Fetch-Site${blanked.join("")}
			copy_headers Tidegate-Decision RateLimit RateLimit-Policy
			transport http {
				dial_timeout ${connectMs}ms
				response_header_timeout ${timeoutMs}ms
			}
		}
		# Allowed: the client sees its limits.
		@tidegate_limits header_regexp RateLimit ^[^{]
		header @tidegate_limits RateLimit {http.request.header.RateLimit}
		header @tidegate_limits RateLimit-Policy {http.request.header.RateLimit-Policy}
		request_header -RateLimit
		request_header -RateLimit-Policy
	}
}

# No answer in time: the request passes. Only then: where the app itself failed, a decision was made before.
(tidegate_open) {
	handle_errors {
		@tidegate_silent {
			expression {err.status_code} in [502, 503, 504]
			not header_regexp Tidegate-Decision .+
		}
		reverse_proxy @tidegate_silent {args.0}
	}
}
`;
  return { ...untoldNote(untold), files: [{ name: "tidegate.caddy", text }] };
}
