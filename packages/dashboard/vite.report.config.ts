import { defineConfig } from "vite";
import { oneFile } from "./one-file.ts";

/** The report of a rehearsal: one file, which the server's command puts the data into. */
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [oneFile()],
  build: {
    outDir: "../tidegate-server/dist/report",
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    target: "es2022",
    rollupOptions: { input: "report.html" },
  },
});
