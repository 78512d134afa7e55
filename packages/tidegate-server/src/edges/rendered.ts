import { ConfigError } from "tidegate";

/** Texts to put into another server's configuration. */
export interface Rendered {
  readonly files: readonly RenderedFile[];
}

export interface RenderedFile {
  readonly name: string;
  readonly text: string;
}

/** What every proxy that asks the decision service has to be told. */
export interface AskOptions {
  /** Where the decision service listens, as the proxy reaches it: `http://127.0.0.1:8090`. */
  readonly decideUrl: string;
  /** How long the proxy waits for a decision before it lets the request pass. Default 100. */
  readonly timeoutMs?: number;
  /** The headers of the server's `identify`: a client's own are not let through. */
  readonly identify?: { readonly user?: string; readonly customer?: string };
}

/** The options as text that can stand in a configuration: nothing in it can end a line, a block or a quote. */
export interface Asked {
  readonly scheme: "http" | "https";
  readonly authority: string;
  readonly timeoutMs: number;
  readonly identify: readonly string[];
}

export function parseAsk({ decideUrl, timeoutMs = 100, identify = {} }: AskOptions): Asked {
  const { scheme, authority } = parseOrigin(decideUrl, "decideUrl");
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > 60_000)
    throw wrong("timeoutMs", "Write a whole number of milliseconds from 1 to 60000.");
  const names = Object.entries(identify).map(([fact, name]) => headerName(name, `identify.${fact}`));
  return { scheme, authority, timeoutMs, identify: [...new Set(names)] };
}

/** `http://host:port` and nothing more. */
function parseOrigin(
  text: string,
  path: string,
): { readonly scheme: "http" | "https"; readonly authority: string } {
  const parts =
    /^(https?):\/\/((?:[a-z0-9](?:[a-z0-9.-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}))?)\/?$/i.exec(
      String(text),
    );
  if (parts === null || Number(parts[3] ?? 1) > 65_535 || Number(parts[3] ?? 1) < 1)
    throw wrong(path, "Write scheme, host and port alone, e.g. http://127.0.0.1:8090.");
  const scheme = (parts[1] as string).toLowerCase() as "http" | "https";
  const authority = parts[2] as string;
  return { scheme, authority: parts[3] === undefined ? `${authority}:${usualPorts[scheme]}` : authority };
}

const usualPorts = { http: 80, https: 443 };

function headerName(name: string, path: string): string {
  if (/^[a-z][a-z0-9-]{0,63}$/i.test(name)) return name;
  throw wrong(path, "Write the name of a header, letters, digits and dashes.");
}

export function wrong(path: string, help: string): ConfigError {
  return new ConfigError("TG_RENDER", path, "this can not stand in a configuration.", help);
}
