import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Secret } from "../secret.js";
import type { EdgeSettings } from "../settings.js";
import { isUrl, parseOrigin } from "./addresses.js";
import type { EdgeShape } from "./edges-shape.js";
import type { FileReader } from "./file-reader.js";
import type { Path } from "./path.js";
import { readFilePath } from "./read-file-path.js";
import { readToken } from "./read-token.js";
import { shown } from "./shown.js";

export function readEdges(reader: FileReader): Record<string, EdgeSettings> {
  const read = Object.entries(reader.section("edges")).map(([name, given]): [string, EdgeSettings] => {
    if (!/^[a-z0-9-]{1,32}$/.test(name)) refuseName(name, reader);
    return [name, readEdge(given, ["edges", name], reader)];
  });
  return Object.fromEntries(read);
}

function readEdge(given: EdgeShape, path: Path, reader: FileReader): EdgeSettings {
  switch (given.kind) {
    case "memory":
      return given;
    case "haproxy":
      return {
        ...given,
        socket: readSocket(given.socket, [...path, "socket"], reader),
        maps: readMaps(given.maps, [...path, "maps"], reader),
        keepsFiles: given.keepsFiles ?? isFolder(given.maps),
      };
    case "varnish": {
      const { token: text, ...rest } = given;
      const token = readToken(text, [...path, "token"], reader);
      const url = readOrigin(given.url, [...path, "url"], reader);
      return { ...rest, url, ...(token !== undefined && { token }) };
    }
    case "nginx": {
      const { kind, file, pidFile, reload, maxEntries } = given;
      return {
        kind,
        file: resolve(reader.folder, readFilePath(file, [...path, "file"], reader)),
        pidFile: resolve(reader.folder, readFilePath(pidFile, [...path, "pidFile"], reader)),
        reloadMs: reader.timer(reload, [...path, "reload"]),
        maxEntries,
      };
    }
    case "fastly":
      return readFastly(given, path, reader);
  }
}

function readFastly(
  { canary, token: text, ...given }: Extract<EdgeShape, { kind: "fastly" }>,
  path: Path,
  reader: FileReader,
): EdgeSettings {
  if (!/^[A-Za-z0-9]{1,64}$/.test(given.service))
    reader.refuse([...path, "service"], {
      is: "is not the id of a service.",
      help: "Write it as Fastly shows it, letters and digits, e.g. SU1Z0isxPaozGVKXdv0eY.",
    });
  if (!/^[a-z][a-z0-9_]{0,31}$/.test(given.prefix))
    reader.refuse([...path, "prefix"], {
      is: "can not begin the names of dictionaries.",
      help: "Use up to 32 of a-z, 0-9 and _, a letter first, e.g. tidegate.",
    });
  if (![1, 2, 4, 8, 16].includes(given.shards))
    reader.refuse([...path, "shards"], {
      is: "is not a number of dictionaries.",
      help: "Write 1, 2, 4, 8 or 16: a client's dictionary is found by the first digit of its key.",
    });
  if (canary !== undefined && (!isUrl(canary, ["http:", "https:"]) || /^https?:\/\/[^/]*@/.test(canary)))
    reader.refuse([...path, "canary"], {
      code: "TG_URL",
      is: "can not be asked for.",
      help: "Write a URL of the service, e.g. https://www.example.com/.tidegate/canary.",
    });
  return {
    ...given,
    token: readToken(text, [...path, "token"], reader) ?? new Secret(""),
    api: readOrigin(given.api, [...path, "api"], reader),
    ...(canary !== undefined && { canary }),
  };
}

function readOrigin(text: string, path: Path, reader: FileReader): string {
  const parsed = parseOrigin(text);
  if ("value" in parsed) return parsed.value;
  // It may hold a password: what it is stays unsaid.
  const { help } = parsed.fault;
  reader.problems.add(path, { code: "TG_URL", message: "This is not an origin that takes orders.", help });
  return text;
}

/** `host:port`, or a path seen from the file's folder. */
function readSocket(text: string, path: Path, reader: FileReader): string {
  const port = /^(?:[\w.-]+|\[[\da-fA-F:.]+\]):(\d{1,5})$/.exec(text)?.[1];
  if (port !== undefined && Number(port) >= 1 && Number(port) <= 65_535) return text;
  if (port === undefined && /^[^\0\r\n:]+$/.test(text) && text.trim() !== "" && !text.endsWith("/"))
    return resolve(reader.folder, text);
  reader.refuse(path, {
    is: "is not where a runtime API can be.",
    help: "Write the path of the stats socket, e.g. /run/haproxy/admin.sock, or 127.0.0.1:9999.",
  });
  return text;
}

/** Part of commands to HAProxy: nothing in it may end a word. */
function readMaps(text: string, path: Path, reader: FileReader): string {
  const folder = text.length > 1 ? text.replace(/\/$/, "") : text;
  if (/^\/[\w.-]+(?:\/[\w.-]+)*$/.test(folder) && folder.length <= 200 && !/\/\.\.?(?:\/|$)/.test(folder))
    return folder;
  reader.refuse(path, {
    is: "is not a folder of maps.",
    help: "Write it whole, from the first slash, of letters, digits, dots and dashes: /etc/haproxy/tidegate.",
  });
  return folder;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function refuseName(name: string, reader: FileReader): void {
  const words = {
    code: "TG_EDGE_NAME",
    message: `${shown(name)} can not name an edge.`,
    help: "Use 1 to 32 of a-z, 0-9 and -.",
  };
  reader.problems.add(["edges", name], words, "key");
}
