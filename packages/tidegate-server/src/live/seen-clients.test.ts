import { expect, it } from "vitest";
import type { Hold } from "../hold.js";
import { type SeenClientsOptions, seenClients } from "./seen-clients.js";

const nobody: SeenClientsOptions = {
  busiest: async () => [],
  refused: async () => [],
  offenders: async () => [],
  holds: async () => [],
  clientOf: (ip) => ip,
  overlap: () => () => true,
};

const busy = { key: "203.0.113.7", count: 3.4, error: 0, refused: 2.3, total: 90, totalRefused: 80 };
const refused = { ip: "203.0.113.7", refused: 80, at: 5, about: {}, lately: [] };

it("of a client never more was refused than came: both fade", async () => {
  const seen = seenClients({ ...nobody, busiest: async () => [busy], refused: async () => [refused] });
  expect(await seen({})).toMatchObject([{ requests: 3, refused: 2, refusedAt: 5 }]);
});

it("of a client that is not among the busiest what was refused is known to have come", async () => {
  const seen = seenClients({ ...nobody, refused: async () => [refused, { ...refused, refused: 2 }] });
  expect(await seen({})).toMatchObject([{ requests: 82, refused: 82 }]);
});

it("who is held by a rule is told until when, edges or not; that a customer is says nothing of an address", async () => {
  const hold: Hold = { rule: "a", key: "203.0.113.7", since: 1, until: 9, about: { ip: "203.0.113.7" } };
  const customer: Hold = { ...hold, key: "acme", about: { ip: "203.0.113.8" } };
  const seen = seenClients({ ...nobody, holds: async () => [hold, customer] });
  expect(await seen({})).toEqual([
    { client: "203.0.113.7", ip: "203.0.113.7", requests: 0, refused: 0, heldUntil: 9 },
  ]);
});
