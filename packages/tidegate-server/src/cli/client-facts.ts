import { isIP } from "node:net";
import { type Command, InvalidArgumentError } from "commander";
import { usageError } from "./exit.js";

/** What may be said of a request, as the server takes it. */
export interface Facts {
  ip?: string;
  method?: string;
  host?: string;
  path?: string;
  user?: string;
  customer?: string;
  account?: string;
  headers?: Record<string, string>;
}

/** Whom a person means: an address, `customer:<id>`, `user:<id>` or `account:<name>`. */
function clientFacts(text: string): Facts {
  const named = /^(customer|user|account):(.+)$/s.exec(text);
  if (named !== null) return { [named[1] as "customer" | "user" | "account"]: named[2] as string };
  const address = bare(text);
  if (isIP(address) !== 0) return { ip: address };
  if (isDecisionId(text))
    throw usageError(
      `${text} looks like a decision's id, which is no client.`,
      `\`tidegate why ${text}\` tells of it. Here give an address, customer:<id>, user:<id> or account:<name>.`,
    );
  throw usageError(
    `${JSON.stringify(text.slice(0, 100))} is no client.`,
    `Give an address, customer:<id>, user:<id> or account:<name>.${mayBeDecision(text) ? " `tidegate why --decision` takes it for a decision's id." : ""}`,
  );
}

/** Whom of those at the edges a person means. */
export type HeldFilter = { readonly ip?: string; readonly key?: string };

export function heldFilter(text: string): HeldFilter {
  if (isDigest(text)) return { key: text.toLowerCase() };
  const [address = "", bits] = bare(text).split("/", 2);
  if (isIP(address) !== 0 && (bits === undefined || /^\d{1,3}$/.test(bits)))
    return { ip: bits === undefined ? address : `${address}/${bits}` };
  throw usageError(
    `${JSON.stringify(text.slice(0, 100))} is neither an address nor a digest.`,
    "Give an address, a block such as 203.0.113.0/24, or a digest of 40 or 64 hexadecimal digits.",
  );
}

/** A key an offender stands under at the edges: SHA-256, or SHA-1 in the seed's form. */
export function isDigest(text: string): boolean {
  return /^(?:[0-9a-f]{64}|[0-9a-f]{40})$/i.test(text);
}

/** By its looks: no client is written so. Some ids have no digit, and then look like a name. */
export function isDecisionId(text: string): boolean {
  return mayBeDecision(text) && /\d/.test(text);
}

function mayBeDecision(text: string): boolean {
  return /^[0-9a-z]{1,11}-[0-9a-z]{1,11}$/.test(text);
}

/** Flags for the rest of a request. */
export function withRequestOptions(command: Command): Command {
  return command
    .option("--method <method>", "of the request (GET)", method)
    .option("--path <path>", "of the request (/)", path)
    .option("--host <host>", "of the request")
    .option("--header <name: value>", "of the request; may be given again", header)
    .option("--ip <address>", "beside a customer, user or account", ip)
    .option("--customer <id>", "who is known to send it")
    .option("--user <id>", "who is known to send it")
    .option("--account <name>", "who it claims to be");
}

function method(text: string): string {
  if (/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(text)) return text.toUpperCase();
  throw new InvalidArgumentError("Write it as POST.");
}

function path(text: string): string {
  if (/^\/[^\s\p{Cc}]*$/u.test(text)) return text;
  throw new InvalidArgumentError("Write it as /search, from its first slash on and without spaces.");
}

function ip(text: string): string {
  const address = bare(text);
  if (isIP(address) !== 0) return address;
  throw new InvalidArgumentError("Write it as 203.0.113.7.");
}

/** IPv6 as addresses of servers have it. */
function bare(address: string): string {
  return address.replace(/^\[(.*)\]$/, "$1");
}

function header(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9a-z-]+):\s*(.*)$/i.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Write it as "User-Agent: curl/8".');
  return { ...before, [name]: value as string };
}

export interface RequestFlags {
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  readonly header?: Record<string, string>;
  readonly ip?: string;
  readonly customer?: string;
  readonly user?: string;
  readonly account?: string;
}

/** The client and the flags together. */
export function requestFacts(client: string | undefined, flags: RequestFlags): Facts {
  const { method, path, host, header: headers, ip, customer, user, account } = flags;
  return {
    ...(ip !== undefined && { ip }),
    ...(customer !== undefined && { customer }),
    ...(user !== undefined && { user }),
    ...(account !== undefined && { account }),
    ...(client !== undefined && clientFacts(client)),
    ...(method !== undefined && { method }),
    ...(path !== undefined && { path }),
    ...(host !== undefined && { host }),
    ...(headers !== undefined && Object.keys(headers).length > 0 && { headers }),
  };
}
