import { createHash } from "node:crypto";
import { ConfigError, shown } from "../../errors.js";
import { rejectUnknownOptions } from "../../limit.js";
import { type Address, Connection } from "./connection.js";
import { strangeReply } from "./failures.js";
import { flagOf, type Reply } from "./reply-parser.js";

/** What the store needs of memcached. Made by `memcachedClient`; several stores may share one. */
export interface MemcachedClient {
  get(key: string): Promise<MemcachedItem>;
  /** Stores a value if the item is still as it was read; `undefined` as version means it was not there. */
  put(
    key: string,
    value: Uint8Array,
    version: MemcachedVersion | undefined,
    terms: { ttlSeconds: number; notAfter: number },
  ): Promise<MemcachedPut>;
  delete(key: string, terms: { notAfter: number }): Promise<void>;
  close(): void;
}

export interface MemcachedItem {
  readonly value: Uint8Array | undefined;
  readonly version: MemcachedVersion | undefined;
}

export interface MemcachedPut {
  /** False when someone else was faster. */
  readonly isStored: boolean;
  /** What the item is now, if it was stored and the server said so. */
  readonly version: MemcachedVersion | undefined;
}

/** Of one item, as one connection saw it. */
export interface MemcachedVersion {
  readonly cas: string;
  readonly epoch: number;
}

export interface MemcachedClientOptions {
  /** `["10.0.0.1:11211", "10.0.0.2:11211"]`. Each key lives on one of them, whatever their order in the list. */
  servers: readonly string[];
}

const never = Number.POSITIVE_INFINITY;

/** A small client of memcached's meta protocol (1.6 and later): pipelined, one connection per server, nothing sent twice. */
export function memcachedClient(options: MemcachedClientOptions): MemcachedClient {
  rejectUnknownOptions(options, ["servers"], "memcachedClient");
  const connections = parseServers(options.servers).map((address) => new Connection(address));
  const seeds = connections.map(({ name }) => hash(name));

  /** Rendezvous: each server draws a number for the key, the highest has it. One server more or less moves only its own share. */
  function homeOf(key: string): Connection {
    if (connections.length === 1) return connections[0] as Connection;
    const hashed = hash(key);
    let best = 0;
    let highest = -1;
    for (let i = 0; i < seeds.length; i++) {
      const drawn = scatter(hashed ^ (seeds[i] as number));
      if (drawn > highest) {
        highest = drawn;
        best = i;
      }
    }
    return connections[best] as Connection;
  }

  return {
    async get(key) {
      const name = wireKey(key);
      const home = homeOf(name);
      const { epoch } = home;
      const reply = await home.ask(`mg ${name} v c`, undefined, "VA EN", never);
      const version = versionIn(reply, epoch);
      // Without cas numbers (memcached -C) every put would overwrite what others counted.
      if (reply.value !== undefined && version === undefined)
        throw strangeReply(home.name, "an item without a cas number, as memcached -C does");
      return { value: reply.value, version };
    },

    async put(key, value, version, { ttlSeconds, notAfter }) {
      const name = wireKey(key);
      const home = homeOf(name);
      const { epoch } = home;
      if (version !== undefined && version.epoch !== epoch) return lost;
      const condition = version === undefined ? "ME" : `C${version.cas}`;
      const reply = await home.ask(
        `ms ${name} ${value.length} ${condition} T${wireTtl(ttlSeconds)} c`,
        Buffer.from(value.buffer, value.byteOffset, value.length).toString("latin1"),
        "HD NS EX NF",
        notAfter,
      );
      return reply.code === "HD" ? { isStored: true, version: versionIn(reply, epoch) } : lost;
    },

    async delete(key, { notAfter }) {
      const name = wireKey(key);
      await homeOf(name).ask(`md ${name}`, undefined, "HD NF", notAfter);
    },

    close() {
      for (const connection of connections) connection.close();
    },
  };
}

const lost: MemcachedPut = { isStored: false, version: undefined };

function versionIn(reply: Reply, epoch: number): MemcachedVersion | undefined {
  const cas = flagOf(reply, "c");
  return cas !== undefined && /^[1-9]\d{0,19}$/.test(cas) ? { cas, epoch } : undefined;
}

/** memcached takes at most 250 bytes without spaces and control characters; anything else goes by its digest. */
export function wireKey(key: string): string {
  if (/^[\x21-\x7e]{1,250}$/.test(key)) return key;
  return `%m${createHash("sha256").update(key, "utf16le").digest("hex")}`;
}

const longestRelativeTtl = 30 * 24 * 3600;
const lastTimestamp = 2 ** 31 - 1;

/** Above 30 days memcached reads a time to live as a date; beyond 2038 there is none, and 0 means for ever. */
export function wireTtl(seconds: number): number {
  if (seconds <= longestRelativeTtl) return Math.max(1, Math.ceil(seconds));
  const date = Math.ceil(Date.now() / 1000 + seconds);
  return date <= lastTimestamp ? date : 0;
}

function parseServers(servers: unknown): Address[] {
  if (!Array.isArray(servers) || servers.length === 0 || new Set(servers).size !== servers.length) {
    throw new ConfigError(
      "TG_MEMCACHED_SERVERS",
      "memcached.servers",
      `${shown(servers)} is not a list of different servers.`,
      'Write servers: ["127.0.0.1:11211"].',
    );
  }
  return servers.map((server, i) => parseServer(server, `memcached.servers[${i}]`));
}

function parseServer(server: unknown, path: string): Address {
  const [, bracketed, plain, digits = "11211"] =
    /^(?:\[([\da-fA-F:.]+)\]|([^\s:/[\]]+))(?::(\d{1,5}))?$/.exec(String(server)) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (typeof server !== "string" || host === undefined || port < 1 || port > 65_535) {
    throw new ConfigError(
      "TG_MEMCACHED_SERVERS",
      path,
      `${shown(server)} is not the address of a server.`,
      'Write "host:port", e.g. "127.0.0.1:11211" or "[::1]:11211".',
    );
  }
  return { host, port };
}

/** FNV-1a. */
function hash(text: string): number {
  let digest = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) digest = Math.imul(digest ^ text.charCodeAt(i), 0x01000193);
  return digest >>> 0;
}

/** The finish of MurmurHash3: every bit of the input moves every bit of the output. */
function scatter(bits: number): number {
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
