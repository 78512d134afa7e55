import { IncomingMessage } from "node:http";
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
