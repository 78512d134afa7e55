import type { ConfigError } from "tidegate";
import { memcachedStore } from "tidegate/memcached";
import { Secret } from "../secret.js";
import type { StoreSettings } from "../settings.js";
import { isUrl } from "./addresses.js";
import type { FileReader } from "./file-reader.js";
import { nearest } from "./nearest.js";
import { type Path, readPath } from "./path.js";
import type { Section } from "./settings-shape.js";

const kinds = ["memory", "redis", "memcached"] as const;
const redisSchemes = ["redis:", "rediss:"];
export const redisUrlHelp =
  "Write redis://host:6379, or rediss:// for TLS; with a password redis://:password@host:6379, % in it as %25; for another database its number, redis://host:6379/1.";
const localRedis = "redis://127.0.0.1:6379";

export function readStore(reader: FileReader): StoreSettings {
  const given = reader.section("store");
  return typeof given === "string" ? namedStore(given, reader) : storeOf(given, reader);
}

export function redisAt(url: string): StoreSettings & { kind: "redis" } {
  return { kind: "redis", url: new Secret(url), prefix: "tg", isCluster: false };
}

export function isRedisUrl(text: string): boolean {
  if (!isUrl(text, redisSchemes)) return false;
  const { username, password, pathname } = new URL(text);
  return isEncoded(username) && isEncoded(password) && /^\/?\d{0,9}$/.test(pathname);
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function namedStore(name: string, reader: FileReader): StoreSettings {
  if (name === "memory") return { kind: "memory" };
  if (name === "redis") return redisAt(localRedis);
  if (name === "memcached") return { kind: "memcached", servers: ["127.0.0.1:11211"], prefix: "tg" };
  if (isRedisUrl(name)) return redisAt(name);
  const guess = name.includes(":") ? undefined : nearest(name, kinds);
  reader.problems.add(["store"], {
    code: "TG_STORE",
    message: "This names no store.",
    help: `${guess === undefined ? "" : `Did you mean ${guess}? `}Write memory, redis, memcached, or the URL of a Redis. ${redisUrlHelp}`,
  });
  return { kind: "memory" };
}

function storeOf(given: Exclude<Section<"store">, string>, reader: FileReader): StoreSettings {
  const { problems } = reader;
  switch (given.kind) {
    case "memory":
      return { kind: "memory", ...(given.maxKeys !== undefined && { maxKeys: given.maxKeys }) };
    case "redis":
      if (!isRedisUrl(given.url))
        problems.add(["store", "url"], {
          code: "TG_URL",
          message: "This is not the URL of a Redis.",
          help: redisUrlHelp,
        });
      return {
        kind: "redis",
        url: new Secret(given.url),
        prefix: readPrefix(given.prefix, reader),
        isCluster: given.cluster,
      };
    case "memcached": {
      const { servers, prefix } = given;
      problems.guard(
        ["store"],
        () => void memcachedStore({ servers, prefix }).close?.(),
        (error) => memcachedPath(error, given),
      );
      return { kind: "memcached", servers, prefix };
    }
  }
}

function memcachedPath({ code, path }: ConfigError, given: object): Path {
  return code === "TG_PREFIX" ? ["prefix"] : readPath(path, { memcached: given }).slice(1);
}

/** As the library's Redis store has it, which can not be built without a connection. */
function readPrefix(prefix: string, reader: FileReader): string {
  if (!/^[\x21-\x7a\x7c\x7e]{1,64}$/.test(prefix)) {
    reader.refuse(["store", "prefix"], {
      code: "TG_PREFIX",
      is: "can not begin keys.",
      help: "Use 1 to 64 printable characters without spaces and braces.",
    });
  }
  return prefix;
}
