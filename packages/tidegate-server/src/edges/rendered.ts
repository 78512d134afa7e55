import { ConfigError } from "tidegate";

/** Texts to put into another server's configuration. */
export interface Rendered {
  readonly files: readonly RenderedFile[];
  /** What these texts lack, for whoever asked for them. */
  readonly note?: string;
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
  /** The headers of the server's `identify`: a client's own are not let through. False: it has none; undefined: not known. */
  readonly identify?: { readonly customer?: string | false; readonly user?: string | false };
}

/** The options as text that can stand in a configuration: nothing in it can end a line, a block or a quote. */
export interface Asked {
  readonly scheme: "http" | "https";
  readonly authority: string;
  readonly timeoutMs: number;
  readonly identify: readonly string[];
  /** The settings that may name further such headers: `identify.user`. */
  readonly untold: readonly string[];
}

export function parseAsk({ decideUrl, timeoutMs = 100, identify = {} }: AskOptions): Asked {
  const { scheme, authority } = parseOrigin(decideUrl, "decideUrl");
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > 60_000)
    throw wrong("timeoutMs", "Write a whole number of milliseconds from 1 to 60000.");
  const names = believed.flatMap((fact) => {
    const name = identify[fact];
    return typeof name === "string" ? [headerName(name, `identify.${fact}`)] : [];
  });
  const untold = believed.filter((fact) => identify[fact] === undefined).map((fact) => `identify.${fact}`);
  return { scheme, authority, timeoutMs, identify: [...new Set(names)], untold };
}

const believed = ["customer", "user"] as const;

/** For a configuration rendered without knowing every header that has to be dropped; `drop` is how it is done there. */
export function untoldComment(untold: readonly string[], drop: string): readonly string[] {
  if (untold.length === 0) return [];
  const settings = untold.join(" and ");
  const flags = untold.map((setting) => `--${setting.slice("identify.".length)}-header`).join(" and ");
  return [
    `# NOT DROPPED: the client's own headers of ${settings}. Their names are in the server's`,
    "# tidegate.yaml, and a running server's settings can not be known here. Where they are set, a client that sends them",
    `# is believed. Render this again with --config tidegate.yaml (or ${flags}), or write for each:`,
    `# ${drop}`,
  ];
}

/** The same in a sentence. */
export function untoldNote(untold: readonly string[]): { readonly note?: string } {
  if (untold.length === 0) return {};
  return {
    note: `Where the server sets ${untold.join(" or ")}, a client could name itself: render with --config tidegate.yaml, which says the headers to drop.`,
  };
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

export function headerName(name: string, path: string): string {
  if (/^[a-z][a-z0-9_-]{0,63}$/i.test(name)) return name;
  throw wrong(path, "Write the name of a header, letters, digits, dashes and underscores.");
}

export function wrong(path: string, help: string): ConfigError {
  return new ConfigError("TG_RENDER", path, "this can not stand in a configuration.", help);
}
