/** What `tidegate edge render <name>` writes: how other proxies ask the decision service. */
export { renderCaddy } from "./caddy.js";
export { renderNginxAuth } from "./nginx-auth.js";
export type { AskOptions, Rendered } from "./rendered.js";
export { renderTraefik } from "./traefik.js";
