// `npm start`: something real on port 8080, straight after a clone.
import { build, installPackages, main } from "./prepare.mjs";

await main(async () => {
  await installPackages();
  await build();
  await import("../examples/hello-node/server.mjs");
});
