// Writes the JSON Schema of tidegate.yaml and the OpenAPI of the admin API beside the package they are of; tests compare.
import { writeFileSync } from "node:fs";
import { openapiDocument } from "../packages/tidegate-server/src/api/openapi/document.js";
import { routes } from "../packages/tidegate-server/src/api/routes.js";
import { configSchema } from "../packages/tidegate-server/src/config/config-schema.js";
import { version } from "../packages/tidegate-server/src/version.js";

write("tidegate.schema.json", configSchema());
write("openapi.json", openapiDocument(routes, version()));

function write(name: string, document: object): void {
  const file = new URL(`../packages/tidegate-server/${name}`, import.meta.url);
  writeFileSync(file, `${JSON.stringify(document, undefined, 2)}\n`);
}
