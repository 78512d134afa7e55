import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { oneFile } from "./one-file.ts";

const library = fileURLToPath(new URL("../tidegate/src/simulate/index.ts", import.meta.url));

/** docs/playground.html: one file, made of the sources as they stand. */
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  resolve: { alias: { "tidegate/simulate": library } },
  plugins: [oneFile()],
  build: {
    outDir: "../../docs",
    emptyOutDir: false,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    target: "es2022",
    rollupOptions: { input: "playground.html" },
  },
});
