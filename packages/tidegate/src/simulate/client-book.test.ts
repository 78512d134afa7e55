import { describe, expect, it } from "vitest";
import type { Client } from "../policy/client.js";
import { subjectOf } from "../testing/subject.js";
import { ClientBook } from "./client-book.js";
import { KeyId } from "./key-id.js";

const subject = subjectOf("192.0.2.1", { headers: { "user-agent": "curl/8" } });
const client = { ip: "192.0.2.1" } as Client;
const id = new KeyId();

function send(book: ClientBook, key: string, times: number, refusedOf: number): void {
  for (let i = 0; i < times; i++) {
    id.of(0, key);
    book.meet(id, subject);
    if (i >= times - refusedOf) book.refuse(id, 0, key, client, subject).refuse(1000 + i, 5);
  }
}

describe("the book of refused clients", () => {
  it("knows how much a client sent before it was first refused", () => {
    const book = new ClientBook();
    send(book, "a", 10, 2);
    send(book, "a", 3, 0);
    send(book, "b", 100, 0);
    expect(book.rows().map((row) => row.report("r"))).toEqual([
      {
        client: "a",
        address: "192.0.2.1",
        rule: "r",
        userAgent: "curl/8",
        requests: 13,
        refused: 2,
        share: 2 / 13,
        firstRefusedAt: 1008,
        lastRefusedAt: 1009,
        longestHoldMs: 5,
      },
    ]);
  });

  it("tells the most refused first", () => {
    const book = new ClientBook();
    send(book, "few", 10, 1);
    send(book, "many", 10, 9);
    expect(book.top(1).map((row) => row.client)).toEqual(["many"]);
  });

  it("keeps so many by name, and lets go of those refused least", () => {
    const book = new ClientBook(undefined, 100);
    send(book, "worst", 50, 50);
    for (let i = 0; i < 1000; i++) send(book, `other ${i}`, 1, 1);
    expect(book.rows().length).toBeLessThanOrEqual(100);
    expect(book.top(1)[0]?.client).toBe("worst");
    expect(book.dropped).toBeGreaterThanOrEqual(900);
  });

  it("keeps no more of a text than anybody wants to read", () => {
    const book = new ClientBook();
    send(book, "x".repeat(100_000), 1, 1);
    expect(book.top(1)[0]?.client.length).toBe(256);
  });
});
