#!/usr/bin/env node
import { processIo } from "./io.js";
import { run } from "./run.js";

// `tidegate audit | head` is no mistake of anybody's.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

process.exitCode = await run(process.argv.slice(2), processIo());
