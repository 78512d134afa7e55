import type { Flags } from "./cli.js";
import { usageError } from "./exit.js";

/** What `edge render` may be told; of a file's settings what is written here wins. */
export interface RenderFlags extends Flags {
  readonly decideUrl?: string;
  readonly timeout?: number;
  readonly customerHeader?: string;
  readonly userHeader?: string;
  readonly cachePath?: string;
  readonly fingerprint?: string;
  readonly maps?: string;
  readonly clientHeader?: string;
  readonly clientFrom?: readonly string[];
  readonly listener?: string;
  readonly control?: readonly string[];
  readonly storage?: string;
  readonly grace?: number;
  readonly file?: string;
  readonly prefix?: string;
  readonly shards?: number;
  readonly canaryPath?: string;
  readonly out?: string;
}

const asking = ["decideUrl", "timeout", "customerHeader", "userHeader", "config"] as const;

/** Who is rendered, and which flags say something to it. */
export const renderable: Readonly<Record<string, readonly (keyof RenderFlags)[]>> = {
  haproxy: ["maps", "fingerprint", "clientHeader", "clientFrom", "config"],
  varnish: ["fingerprint", "listener", "control", "storage", "grace", "config"],
  "nginx-map": ["file", "config"],
  fastly: ["prefix", "shards", "fingerprint", "canaryPath", "config"],
  "nginx-auth": [...asking, "cachePath"],
  caddy: asking,
  traefik: asking,
};

/** A flag that would silently do nothing is a slip. */
export function refuseOtherFlags(what: string, flags: RenderFlags): void {
  const known = renderable[what] ?? [];
  const all = new Set(Object.values(renderable).flat());
  for (const name of all) {
    if (flags[name] === undefined || known.includes(name)) continue;
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    const whose = Object.keys(renderable).filter((each) => renderable[each]?.includes(name));
    throw usageError(
      `${flag} says nothing to ${what}.`,
      `Leave it out: it is for ${whose.join(", ")} alone.`,
    );
  }
}
