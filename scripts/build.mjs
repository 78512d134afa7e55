// `npm run build`: the packages, and the dashboard into the server's.
import { build, main } from "./prepare.mjs";

await main(build);
