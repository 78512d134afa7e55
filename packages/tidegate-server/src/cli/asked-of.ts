import { resolve } from "node:path";
import { loadConfig } from "../config/load-config.js";
import type { AskOptions } from "../edges/render.js";
import { urlHost } from "../listen/url-host.js";
import type { ListenAddress } from "../settings.js";
import { usageError } from "./exit.js";
import type { Io } from "./io.js";
import type { RenderFlags } from "./render-flags.js";

type Asked = Required<Pick<AskOptions, "decideUrl" | "identify">>;

/** Where a proxy asks, and which headers it must not take from clients: as the flags and, under them, the file say. */
export function askedOf(flags: RenderFlags, { cwd, env }: Pick<Io, "cwd" | "env">): Asked {
  const { config, decideUrl, customerHeader, userHeader } = flags;
  if (config === undefined)
    return {
      decideUrl: decideUrl ?? "http://127.0.0.1:8090",
      identify: {
        ...(customerHeader !== undefined && { customer: customerHeader }),
        ...(userHeader !== undefined && { user: userHeader }),
      },
    };
  const file = resolve(cwd, config);
  const { settings } = loadConfig({ file, env: { ...env }, cwd, canLackTokens: true });
  const { listen, identify } = settings;
  return {
    decideUrl: decideUrl ?? urlOf(listen.decide),
    identify: {
      customer: customerHeader ?? identify.customer ?? false,
      user: userHeader ?? identify.user ?? false,
    },
  };
}

function urlOf(decide: ListenAddress | undefined): string {
  const help = "Say with --decide-url where the proxy reaches the decision service.";
  if (decide === undefined) throw usageError("The file serves no decisions: listen.decide is false.", help);
  if (decide.port === 0) throw usageError("The file's listen.decide takes any free port.", help);
  return `http://${urlHost(decide.host)}:${decide.port}`;
}
