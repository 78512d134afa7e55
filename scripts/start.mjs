// `npm start`: everything in one process on the embedded default, straight after a clone. `npm start -- --listen :9000`
// hands arguments on to `tidegate start`.
import { join } from "node:path";
import { build, installPackages, main } from "./prepare.mjs";
import { root } from "./run.mjs";

await main(async () => {
  await installPackages();
  await build();
  const command = join(root, "packages/tidegate-server/dist/cli/main.js");
  process.argv = [process.execPath, command, "start", ...process.argv.slice(2)];
  await import(command);
});
