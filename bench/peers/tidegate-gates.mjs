import * as tidegate from "tidegate";
import { LIMIT, WINDOW_MS } from "../lib/settings.mjs";
import { CUSTOMERS, customerId, listAddress } from "../lib/subjects.mjs";

const per = (window) => tidegate.fixedWindow({ limit: LIMIT, window });
const hourly = per(WINDOW_MS);
const LIST_ENTRIES = 10_000;

// To a GET of /api/v1/orders/… by a user of a customer the first three apply; the last does not for want of its header.
const RULES = [
  { name: "req/ip", by: "ip", limits: [per("5m"), per("30m")] },
  { name: "api", only: "/api/v1", except: "/api/v1/users", by: "customer", limits: "tier" },
  { name: "orders", only: "/api/v1/orders", by: "user", limits: [hourly] },
  { name: "users", only: "/api/v1/users", by: "customer", limits: [hourly] },
  { name: "login", only: { method: "POST", path: "/login" }, by: ["ip", "account"], limits: [hourly] },
  { name: "signup", only: { method: "POST", path: "/signup" }, by: "network", limits: [hourly] },
  { name: "search", only: ["/search", "/api/v1/search"], by: "ip", limits: [hourly] },
  { name: "writes", only: { method: ["POST", "PUT", "DELETE"] }, by: "user", limits: [hourly] },
  { name: "admin", only: { host: "admin.example.com" }, by: "user", limits: [hourly] },
  { name: "partner", by: "header:x-partner", limits: [hourly] },
];
const TIERS = {
  free: [per("1h")],
  basic: [per("1h"), per("1d")],
  pro: [per("1m"), per("1h")],
  team: [per("1m"), per("1h")],
  enterprise: [per("1m"), per("1h")],
};

async function inUse() {
  const gate = tidegate.createGate({ rules: RULES, tiers: TIERS, defaultTier: "free" });
  await gate.ready;
  for (let i = 0; i < LIST_ENTRIES; i++) {
    const list = i % 2 === 0 ? gate.blocklist : gate.safelist;
    await list.add(listAddress(i), { who: "bench", why: "listed" });
  }
  const names = Object.keys(TIERS);
  for (let i = 0; i < CUSTOMERS; i++) await gate.customers.setTier(customerId(i), names[i % names.length]);
  return gate;
}

export const gates = {
  "gate-one": () => {
    const gate = tidegate.createGate({ rules: [{ name: "req/ip", by: "ip", limits: [hourly] }] });
    return { call: (subject) => gate.decide(subject) };
  },
  "gate-ten": async () => {
    const gate = await inUse();
    return { call: (subject) => gate.decide(subject) };
  },
};
