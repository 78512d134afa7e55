import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** The same from `src/` and from `dist/`. */
const builtTo = fileURLToPath(new URL("../../dist/dashboard", import.meta.url));

/** Only files of this host, nothing inline, nothing framed. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

interface File {
  readonly bytes: Buffer;
  readonly packed: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** The dashboard as it was built: `/` and the files it names, by their exact paths. Undefined: there is no such file. */
export function dashboardFiles(
  folder = builtTo,
): (path: string, encodings: string | undefined) => Response | undefined {
  let files: ReadonlyMap<string, File> = new Map();
  return (path, encodings = "") => {
    // It may be built while the server runs.
    if (files.size === 0) files = readFiles(folder);
    const file = files.get(path);
    if (file === undefined) return path === "/" ? notBuilt() : undefined;
    const acceptsGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(encodings);
    return new Response(acceptsGzip ? file.packed : file.bytes, {
      headers: { ...file.headers, ...(acceptsGzip && { "Content-Encoding": "gzip" }) },
    });
  };
}

/** All of them, small as they are: what is not read here can not be asked for. */
function readFiles(folder: string): Map<string, File> {
  const files = new Map<string, File>();
  if (!existsSync(join(folder, "index.html"))) return files;
  // Their names change with their content.
  for (const name of readdirSync(join(folder, "assets")))
    files.set(`/assets/${name}`, fileOf(join(folder, "assets", name), "public, max-age=31536000, immutable"));
  files.set("/", fileOf(join(folder, "index.html"), "no-cache"));
  return files;
}

function fileOf(path: string, caching: string): File {
  const bytes = readFileSync(path);
  return {
    bytes,
    packed: gzipSync(bytes, { level: 9 }),
    headers: {
      "Content-Type": types[extname(path)] ?? "application/octet-stream",
      "Cache-Control": caching,
      "Content-Security-Policy": pagePolicy,
      Vary: "Accept-Encoding",
    },
  };
}

function notBuilt(): Response {
  return new Response("The dashboard was not built here. `npm run build` builds it.\n", {
    status: 404,
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" },
  });
}
