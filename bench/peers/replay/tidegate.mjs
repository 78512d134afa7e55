import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const POLICY = `rules:
  - { name: req/ip, by: ip, limits: [300 per 5m, 600 per 30m] }
  - { name: burst, by: ip, limits: [20 per second] }
  - { name: products, only: /products, by: ip, limits: [100 per minute] }
  - { name: posts, only: { method: POST }, by: ip, limits: [30 per minute] }
  - { name: clients, by: standard, limits: [{ earrrl: { rate: 30 per minute, halfLife: 1m } }] }
`;
const bin = fileURLToPath(
  import.meta.resolve("tidegate-server/package.json").replace("package.json", "bin/tidegate.mjs"),
);

export const apps = {
  one({ folder }) {
    const policy = join(folder, "policy.yaml");
    writeFileSync(policy, POLICY);
    return (log) => [process.execPath, [bin, "replay", log, "--policy", policy, "--json"]];
  },
};
