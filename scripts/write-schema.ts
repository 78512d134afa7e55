// Writes the JSON Schema of tidegate.yaml beside the package that reads it; a test compares.
import { writeFileSync } from "node:fs";
import { configSchema } from "../packages/tidegate-server/src/config/config-schema.js";

const file = new URL("../packages/tidegate-server/tidegate.schema.json", import.meta.url);
writeFileSync(file, `${JSON.stringify(configSchema(), undefined, 2)}\n`);
