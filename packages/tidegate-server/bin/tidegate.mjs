#!/usr/bin/env node
// The command, there before anything is built, so that npm can link it.
import { existsSync } from "node:fs";

const command = new URL("../dist/cli/main.js", import.meta.url);

if (existsSync(command)) await import(command.href);
else {
  process.stderr.write("tidegate: it is not built yet: run npm start or npm run build.\n");
  process.exitCode = 1;
}
