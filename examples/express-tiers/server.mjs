// An API with customers in tiers, login protection and lists that change while it runs, all counted in this process.
// With `store: redisStore({ client })` from "tidegate/redis" the same gate counts for many processes.
import express from "express";
import { createGate, loginRules } from "tidegate";
import { decisionOf, tidegate } from "tidegate/express";

const customers = new Map([
  ["key-of-ann", "ann"],
  ["key-of-bob", "bob"],
]);

const gate = createGate({
  rules: [
    { name: "req/ip", by: "ip", limits: ["600 per minute"], hold: { after: 100, for: ["1m", "5m", "1h"] } },
    { name: "api", only: "/api", by: "customer", limits: "tier" },
    ...loginRules({ only: "POST /login" }),
  ],
  tiers: { free: ["5 per minute"], pro: ["100 per minute", "5000 per hour"] },
  defaultTier: "free",
});
await gate.customers.setTier("bob", "pro");

const app = express();
app.use(express.json());
app.use(
  tidegate({
    gate,
    // Who is believed: a customer by its key. What is claimed: the account of a login.
    identify: (req) => ({ customer: customers.get(req.get("x-api-key")), account: req.body?.account }),
  }),
);
app.get("/api/items", (req, res) => {
  const { tier, remaining } = decisionOf(req)?.verdict ?? {};
  res.json({ items: ["one", "two"], tier, remaining });
});
app.post("/login", (req, res) => {
  res.sendStatus(req.body?.password === "sesame" ? 204 : 401);
});
app.get("/why", async (req, res) => {
  res.json(
    await gate.explain({
      ip: req.ip,
      method: "GET",
      host: "",
      path: "/api/items",
      header: (name) => req.get(name),
    }),
  );
});

const server = app.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  console.log(`Try:
  curl -i ${url}/api/items -H 'x-api-key: key-of-ann'      # free: 5 per minute
  curl -i ${url}/api/items -H 'x-api-key: key-of-bob'      # pro
  curl -i ${url}/login --json '{"account":"ann","password":"guess"}'   # three times, then 429
  curl -s ${url}/why                                       # in words`);
});

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.close());
