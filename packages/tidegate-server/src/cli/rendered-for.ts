import type { Rendered } from "../edges/render.js";
import type { EdgeSettings, Settings } from "../settings.js";
import { askedOf } from "./asked-of.js";
import { type ConfiguredEdge, configuredEdge } from "./configured-edge.js";
import { usageError } from "./exit.js";
import type { Io } from "./io.js";
import type { RenderFlags } from "./render-flags.js";

interface Terms {
  /** Of an edge in the file. */
  readonly name: string | undefined;
  readonly io: Pick<Io, "cwd" | "env">;
}

/** What is rendered for one kind, as the flags and, under them, the file say. */
export async function rendered(kind: string, flags: RenderFlags, terms: Terms): Promise<Rendered> {
  const { config } = flags;
  const found = <Kind extends EdgeSettings["kind"]>(wanted: Kind): ConfiguredEdge<Kind> | undefined =>
    config === undefined
      ? undefined
      : // A digest of Varnish's token is written; of the others none is.
        configuredEdge(wanted, { config, ...terms, canLackTokens: wanted !== "varnish" });
  switch (kind) {
    case "haproxy":
      return forHaproxy(flags, found("haproxy"));
    case "varnish":
      return forVarnish(flags, found("varnish"));
    case "nginx-map": {
      const { renderNginxMap } = await import("../edges/nginx-map/render-nginx-map.js");
      const file = flags.file ?? found("nginx")?.edge.file;
      return renderNginxMap({ ...(file !== undefined && { file }) });
    }
    case "fastly":
      return forFastly(flags, found("fastly"));
    default:
      return forAsking(kind, flags, terms);
  }
}

async function forHaproxy(
  flags: RenderFlags,
  found: ConfiguredEdge<"haproxy"> | undefined,
): Promise<Rendered> {
  const { renderHaproxy } = await import("../edges/haproxy/render-haproxy.js");
  const { clientHeader: header, clientFrom: from } = flags;
  if ((header === undefined) !== (from === undefined))
    throw usageError(
      "--client-header and --client-from belong together.",
      "Give both: which header names the client, and whose word on it is believed.",
    );
  const maps = flags.maps ?? found?.edge.maps;
  const socket = found?.edge.socket;
  return renderHaproxy({
    ...identityOf(flags, found),
    ...(maps !== undefined && { maps }),
    ...(socket !== undefined && { socket }),
    ...(header !== undefined && from !== undefined && { client: { header, from } }),
  });
}

async function forVarnish(
  flags: RenderFlags,
  found: ConfiguredEdge<"varnish"> | undefined,
): Promise<Rendered> {
  const { renderVarnish } = await import("../edges/varnish/render-varnish.js");
  const { listener, control, storage, grace } = flags;
  const token = found?.edge.token;
  return renderVarnish({
    ...identityOf(flags, found),
    ...(token !== undefined && { token }),
    ...(listener !== undefined && { listener }),
    ...(control !== undefined && { control }),
    ...(storage !== undefined && { storage }),
    ...(grace !== undefined && { graceSeconds: grace }),
  });
}

async function forFastly(flags: RenderFlags, found: ConfiguredEdge<"fastly"> | undefined): Promise<Rendered> {
  const { renderFastly } = await import("../edges/fastly/render-fastly.js");
  const { fingerprint } = identityOf(flags, found);
  const { prefix = found?.edge.prefix, shards = found?.edge.shards ?? 16 } = flags;
  const canaryPath = flags.canaryPath ?? canaryPathOf(found?.edge.canary);
  return renderFastly({
    shards,
    ...(prefix !== undefined && { prefix }),
    ...(fingerprint !== undefined && { fingerprint }),
    ...(canaryPath !== undefined && { canaryPath }),
  });
}

async function forAsking(kind: string, flags: RenderFlags, { name, io }: Terms): Promise<Rendered> {
  const { renderCaddy, renderNginxAuth, renderTraefik } = await import("../edges/render.js");
  if (name !== undefined)
    throw usageError(`${kind} asks the decision service: it is no edge of the file.`, "Leave its name out.");
  const { timeout, cachePath } = flags;
  const { decideUrl, identify } = askedOf(flags, io);
  const options = { decideUrl, identify, ...(timeout !== undefined && { timeoutMs: timeout }) };
  if (kind === "caddy") return renderCaddy(options);
  if (kind === "traefik") return renderTraefik(options);
  return renderNginxAuth({ ...options, ...(cachePath !== undefined && { cachePath }) });
}

/** How this edge has to write keys, so that they are those Tidegate counts by. */
function identityOf(
  { fingerprint: form }: RenderFlags,
  found: { readonly settings: Settings } | undefined,
): { fingerprint?: "sha256" | "seed"; ipv6Prefix?: number } {
  const fingerprint = formOf(form) ?? found?.settings.identity.fingerprint;
  const ipv6Prefix = found?.settings.identity.ipv6Prefix;
  return {
    ...(fingerprint !== undefined && { fingerprint }),
    ...(ipv6Prefix !== undefined && { ipv6Prefix }),
  };
}

function formOf(text: string | undefined): "sha256" | "seed" | undefined {
  if (text === undefined || text === "sha256" || text === "seed") return text;
  throw usageError(`--fingerprint ${JSON.stringify(text)} is not a form.`, "Write sha256 or seed.");
}

function canaryPathOf(canary: string | undefined): string | undefined {
  return canary === undefined ? undefined : new URL(canary).pathname;
}
