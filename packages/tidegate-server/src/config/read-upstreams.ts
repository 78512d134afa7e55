import type { HealthSettings, UpstreamSettings } from "../settings.js";
import { parseHost, parseOrigin } from "./addresses.js";
import type { FileReader } from "./file-reader.js";
import type { Path } from "./path.js";
import type { UpstreamShape } from "./settings-shape.js";

export function readUpstreams(reader: FileReader): UpstreamSettings[] {
  const read = reader
    .section("upstreams")
    .map((upstream, i) => readUpstream(upstream, ["upstreams", i], reader));
  const places = new Map<string, number>();
  const names = new Set<string>();
  return read.map((upstream, i) => {
    refuseSamePlace(upstream, i, places, reader);
    const name = freeName(upstream.name, names);
    names.add(name);
    return { ...upstream, name };
  });
}

function readUpstream(given: UpstreamShape, path: Path, reader: FileReader): UpstreamSettings {
  const hosts = readHosts(given, path, reader);
  const route = readPath(given.path, [...path, "path"], reader);
  const under = `${hosts[0] ?? ""}${route === "/" ? "" : route}`;
  return {
    name: readName(given.name, [...path, "name"], reader) ?? (under || "default"),
    urls: readUrls(given, path, reader),
    hosts,
    path: route,
    ...(given.health !== undefined && { health: readHealth(given.health, [...path, "health"], reader) }),
  };
}

function readUrls({ url, urls }: UpstreamShape, path: Path, reader: FileReader): string[] {
  if ((url === undefined) === (urls === undefined) || urls?.length === 0) {
    reader.problems.add(path, {
      code: "TG_UPSTREAMS",
      message: url === undefined ? "This upstream has no url." : "This upstream has both url and urls.",
      help: "Write url: http://127.0.0.1:3000, or urls: with a list of origins of the same app.",
    });
    return [];
  }
  const given = url === undefined ? (urls ?? []) : [url];
  const read = given.flatMap((text, i) => {
    const at = url === undefined ? [...path, "urls", i] : [...path, "url"];
    const parsed = parseOrigin(text);
    if ("value" in parsed) return [parsed.value];
    // It may hold a password: what it is stays unsaid.
    reader.problems.add(at, { code: "TG_URL", message: `This ${parsed.fault.is}`, help: parsed.fault.help });
    return [];
  });
  if (new Set(read).size < read.length) {
    reader.problems.add([...path, "urls"], {
      code: "TG_UPSTREAMS",
      message: "One origin is there twice.",
      help: "Name each once: requests are spread evenly.",
    });
  }
  return read;
}

function readHosts({ host, hosts }: UpstreamShape, path: Path, reader: FileReader): string[] {
  const given = [
    ...(host === undefined ? [] : [{ text: host, at: [...path, "host"] }]),
    ...(hosts ?? []).map((text, i) => ({ text, at: [...path, "hosts", i] })),
  ];
  return given.flatMap(({ text, at }) => {
    const read = parseHost(text, { canBeWild: true });
    if (read !== undefined) return [read];
    reader.refuse(at, {
      is: "is not a host.",
      help: "Write it without scheme, port and path: api.example.com, or *.example.com for all below.",
    });
    return [];
  });
}

function readPath(text: string, at: Path, reader: FileReader): string {
  const path = text.length > 1 ? text.replace(/\/$/, "") : text;
  const isPlain = /^\/[A-Za-z0-9._~!$&'()+,=:@/-]*$/.test(path) && path.length <= 1024;
  if (isPlain && !/\/\/|\/\.{1,2}(?:\/|$)/.test(path)) return path;
  reader.refuse(at, {
    is: "is not a path to route by.",
    help: "Write it from the first slash, by whole segments: /api/v1. No query, no escapes, no ;, no // or ..",
  });
  return "/";
}

function readName(name: string | undefined, at: Path, reader: FileReader): string | undefined {
  if (name === undefined || /^[\x21-\x7e]{1,64}$/.test(name)) return name;
  reader.refuse(at, {
    is: "can not name an upstream.",
    help: "Use 1 to 64 printable characters without spaces.",
  });
  return undefined;
}

function readHealth(
  given: NonNullable<UpstreamShape["health"]>,
  path: Path,
  reader: FileReader,
): HealthSettings {
  if (!/^\/[\x21-\x7e]{0,1023}$/.test(given.path)) {
    reader.refuse([...path, "path"], {
      is: "can not be asked for.",
      help: "Write a path from the first slash, e.g. /healthz.",
    });
  }
  return {
    path: given.path,
    everyMs: reader.timer(given.every, [...path, "every"]),
    timeoutMs: reader.timer(given.timeout, [...path, "timeout"]),
    failures: given.failures,
    successes: given.successes,
  };
}

/** Two upstreams for the same requests: only one would ever be asked. */
function refuseSamePlace(
  { hosts, path }: UpstreamSettings,
  index: number,
  places: Map<string, number>,
  reader: FileReader,
): void {
  for (const host of hosts.length === 0 ? [""] : hosts) {
    const place = `${host} ${path}`;
    const other = places.get(place);
    if (other === undefined) places.set(place, index);
    else if (reader.isSound("upstreams"))
      reader.problems.add(["upstreams", index], {
        code: "TG_UPSTREAMS",
        message: `upstreams[${other}] is for the same requests.`,
        help: "Give one of them another host or path; several origins of one app are urls: [...] of one upstream.",
      });
  }
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  let number = 2;
  while (taken.has(`${name}#${number}`)) number++;
  return `${name}#${number}`;
}
