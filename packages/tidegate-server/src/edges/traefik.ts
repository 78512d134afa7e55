import { type AskOptions, headerName, parseAsk, type Rendered } from "./rendered.js";

export interface TraefikOptions extends Omit<AskOptions, "timeoutMs"> {
  /** Request headers that rules look at, beside the usual ones. */
  readonly headers?: readonly string[];
}

const usualHeaders = ["Accept", "Authorization", "Cookie", "User-Agent", "X-Api-Key"];

/** One file of dynamic configuration with the middleware `tidegate`. */
export function renderTraefik(options: TraefikOptions): Rendered {
  const { headers = [] } = options;
  const { scheme, authority, identify, untold } = parseAsk(options);
  const extra = headers.map((name, i) => headerName(name, `headers[${i}]`));
  const listed = [...new Set([...usualHeaders, ...extra])].filter(
    (name) => !identify.some((blanked) => blanked.toLowerCase() === name.toLowerCase()),
  );
  const never = [
    ...identify,
    ...untold.map((setting) => `what the server's ${setting} names (--config tidegate.yaml leaves it out)`),
  ].map((name) => `\n        # Never ${name}: the client's own would be believed.`);
  const text = `# Tidegate: a file of Traefik's dynamic configuration. Put \`tidegate@file\` into the middlewares of each router to be guarded.
#
# Traefik can not let requests pass when nobody decides: without an answer they get 500. Run two decision services
# behind one address if that must not be. Allowed answers carry no RateLimit headers: Traefik hands them to the app,
# not to the client.
http:
  middlewares:
    tidegate:
      forwardAuth:
        address: "${scheme}://${authority}/v1/auth?for=traefik"
        # The address Traefik was called from is the client's, whatever the client says.
        trustForwardHeader: false
        # What the decision service gets to see of the client's headers. Add those your rules count by.${never.join("")}
        authRequestHeaders:
${listed.map((name) => `          - "${name}"`).join("\n")}
        authResponseHeaders:
          - "Tidegate-Decision"
`;
  return { files: [{ name: "tidegate.traefik.yaml", text }] };
}
