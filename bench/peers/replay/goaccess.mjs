import { spawnSync } from "node:child_process";
import { join } from "node:path";

export const apps = {
  one({ folder }) {
    if (spawnSync("goaccess", ["--version"]).error) throw new Error("goaccess is not on PATH");
    const report = join(folder, "goaccess.json");
    return (log) => [
      "goaccess",
      [log, "--log-format=COMBINED", "--no-progress", "--no-global-config", "-o", report],
    ];
  },
};
