import { resolve } from "node:path";
import { Secret } from "../secret.js";
import type { CustomerSourceSettings, CustomersSettings } from "../settings.js";
import { takesCustomer } from "../sql-parameters.js";
import { isUrl } from "./addresses.js";
import type { FileReader } from "./file-reader.js";
import { readToken } from "./read-token.js";
import type { SourceShape } from "./settings-shape.js";

const at = ["customers", "source"];

export function readCustomers(reader: FileReader): CustomersSettings {
  const { source } = reader.section("customers");
  return source === undefined ? {} : { source: readSource(source, reader) };
}

function readSource(source: SourceShape, reader: FileReader): CustomerSourceSettings {
  const everyMs = reader.timer(source.every, [...at, "every"]);
  if (everyMs < 1000)
    reader.refuse([...at, "every"], {
      is: "is too soon to read all customers again.",
      help: "Write 1s or more; 1m is usual.",
    });
  if (source.kind === "http") {
    const token = readToken(source.token, [...at, "token"], reader);
    if (!isUrl(source.url, ["http:", "https:"]) || /^https?:\/\/[^/]*@/.test(source.url))
      refuseUrl(
        reader,
        "Write http:// or https://, a host and a path; what proves who asks goes into token.",
      );
    return { kind: "http", url: source.url, ...(token !== undefined && { token }), everyMs };
  }
  for (const statement of ["select", "update"] as const) {
    if (source[statement].trim() !== "") continue;
    reader.refuse([...at, statement], { is: "says nothing.", help: "Write the SQL statement." });
  }
  if (source.update.trim() !== "" && !takesCustomer(source.update))
    reader.refuse([...at, "update"], {
      code: "TG_CUSTOMERS_SOURCE",
      is: "must take $1, and may take $2 and $3.",
      help: "They are the id, the tier and the limits.",
    });
  return {
    kind: "sql",
    url: new Secret(readDatabase(source.url, reader)),
    select: source.select,
    update: source.update,
    everyMs,
  };
}

function readDatabase(url: string, reader: FileReader): string {
  if (isUrl(url, ["postgres:", "postgresql:"]) || /^file:\/\/\/[^\0]/.test(url)) return url;
  const [, path] = /^file:(?!\/\/)([^\0]+)$/.exec(url) ?? [];
  if (path !== undefined) return `file:${resolve(reader.folder, path)}`;
  refuseUrl(reader, "Write postgres://user:password@host/database, or file:customers.db for SQLite.");
  return url;
}

function refuseUrl(reader: FileReader, help: string): void {
  reader.problems.add([...at, "url"], {
    code: "TG_URL",
    message: "Customers can not be read from this.",
    help,
  });
}
