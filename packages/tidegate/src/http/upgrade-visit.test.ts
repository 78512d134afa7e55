import { IncomingMessage, STATUS_CODES } from "node:http";
import { Socket } from "node:net";
import { Duplex } from "node:stream";
import { afterEach, expect, it, vi } from "vitest";
import { UpgradeVisit } from "./upgrade-visit.js";

afterEach(() => void vi.useRealTimers());

/** Takes nothing that is written to it. */
const deaf = () => new Duplex({ read() {}, write() {} });

it("does not wait for long until a refusal is read", () => {
  vi.useFakeTimers();
  const socket = deaf();
  const visit = new UpgradeVisit(new IncomingMessage(new Socket()), socket);
  visit.send({ status: 429, headers: [], body: "slow down" });
  vi.advanceTimersByTime(4000);
  expect(socket.destroyed).toBe(false);
  vi.advanceTimersByTime(1000);
  expect(socket.destroyed).toBe(true);
});

it("says in its first line what its status means, as node:http does", () => {
  const firstLine = (status: number): string => {
    const socket = deaf();
    const written = vi.spyOn(socket, "write");
    new UpgradeVisit(new IncomingMessage(new Socket()), socket).send({ status, headers: [], body: "" });
    return String(written.mock.calls[0]?.[0]).split("\r\n", 1)[0] as string;
  };
  for (const status of [400, 401, 402, 403, 404, 409, 426, 429, 500, 502, 503, 504])
    expect(firstLine(status)).toBe(`HTTP/1.1 ${status} ${STATUS_CODES[status]}`);
  expect(firstLine(499)).toBe("HTTP/1.1 499 Refused");
});
