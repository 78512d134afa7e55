import { defineConfig } from "vite";

/** Built into the server's package, which serves it. Nothing is inlined: the pages' content policy allows files of their own host only. */
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  server: { proxy: { "/v1": "http://127.0.0.1:8088" } },
  build: {
    outDir: "../tidegate-server/dist/dashboard",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
});
