import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BY_ADDRESS = `rules:
  - { name: req/ip, by: ip, limits: [300 per 5m, 600 per 30m] }
  - { name: burst, by: ip, limits: [20 per second] }
  - { name: products, only: /products, by: ip, limits: [100 per minute] }
  - { name: posts, only: { method: POST }, by: ip, limits: [30 per minute] }
  - { name: login, only: { method: POST, path: /login }, by: ip, limits: [10 per 5m] }
`;
/** The last rule counts every page of every client by itself. */
const BY_FINGERPRINT = BY_ADDRESS.replace(
  / {2}- \{ name: login.*\n/,
  "  - { name: clients, by: standard, limits: [{ earrrl: { rate: 30 per minute, halfLife: 1m } }] }\n",
);
const bin = fileURLToPath(
  import.meta.resolve("tidegate-server/package.json").replace("package.json", "bin/tidegate.mjs"),
);

const replay =
  (rules) =>
  ({ folder }) => {
    const policy = join(folder, "policy.yaml");
    writeFileSync(policy, rules);
    return (log) => [process.execPath, [bin, "replay", log, "--policy", policy, "--json"]];
  };

export const apps = { "by-address": replay(BY_ADDRESS), "by-fingerprint": replay(BY_FINGERPRINT) };
