import { once } from "node:events";
import type { GateOptions } from "../../gate.js";
import { concurrency, createGate } from "../../index.js";
import { open } from "../ask.js";
import { type AppAnswer, hello } from "./app.js";
import { patiently, type Stage, type Vitest, watched } from "./stage.js";

/** When the gate is told how a request ended. */
export function finishing({ expect, it, vi }: Vitest, { serving, still }: Stage): void {
  const loose = (): GateOptions => still({ rules: [{ name: "all", by: "ip", limits: ["100 per minute"] }] });
  const leasing = (): GateOptions =>
    still({ rules: [{ name: "all", by: "ip", limits: [concurrency({ limit: 5, leaseFor: "10m" })] }] });

  it.each([200, 401, 500])("tells the gate of an answer %d, once", async (status) => {
    const { gate, outcomes } = watched(createGate(loose()));
    const { get } = await serving({ gate }, () => ({ status, body: "x" }));
    expect((await get()).status).toBe(status);
    await vi.waitFor(() => expect(outcomes).toEqual([{ status }]), patiently);
    expect((await get({ method: "HEAD" })).status).toBe(status);
    await vi.waitFor(() => expect(outcomes).toEqual([{ status }, { status }]), patiently);
  });

  it("tells the gate of a refusal, once", async () => {
    const { gate, outcomes } = watched(
      createGate(still({ rules: [{ name: "none", by: "ip", limits: ["0 per minute"] }] })),
    );
    const { get } = await serving({ gate });
    expect((await get()).status).toBe(429);
    await vi.waitFor(() => expect(outcomes).toEqual([{ status: 429 }]), patiently);
  });

  it("keeps a lease to the end of an answer that comes piece by piece", async () => {
    const { gate, outcomes } = watched(createGate(leasing()));
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    async function* pieces() {
      yield "one ";
      await released;
      yield "two";
    }
    const { url } = await serving({ gate }, () => ({ body: pieces() }));
    const sent = open(url, {}).end();
    const [response] = await once(sent, "response");
    const [first] = await once(response, "data");
    expect(String(first)).toBe("one ");
    expect(outcomes).toEqual([]);
    let rest = "";
    response.on("data", (piece: Buffer) => {
      rest += piece;
    });
    release();
    await once(response, "end");
    expect(rest).toBe("two");
    await vi.waitFor(() => expect(outcomes).toEqual([{ status: 200 }]), patiently);
  });

  it("gives a lease back when the client leaves in the middle of an answer", async () => {
    const { gate, outcomes } = watched(createGate(leasing()));
    async function* endless() {
      for (;;) {
        yield "x".repeat(1000);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
    const { url } = await serving({ gate }, () => ({ body: endless() }));
    const sent = open(url, {}).end();
    const [response] = await once(sent, "response");
    await once(response, "data");
    response.on("error", () => {});
    sent.destroy();
    await vi.waitFor(() => expect(outcomes).toHaveLength(1), { timeout: 5000 });
  });

  it("finishes without a status when the client leaves before there is an answer", async () => {
    const { gate, outcomes } = watched(createGate(loose()));
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    let answer = (_: AppAnswer) => {};
    const { url } = await serving({ gate }, () => {
      arrived();
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    const sent = open(url, {}).end();
    sent.on("error", () => {});
    await arrival;
    sent.destroy();
    await vi.waitFor(() => expect(outcomes).toEqual([{}]), { timeout: 5000 });
    answer({ body: "too late" });
  });

  it("answers and finishes when the app throws", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const { gate, outcomes } = watched(createGate(loose()));
    const { get } = await serving({ gate }, async () => {
      throw new Error("a fault of the app");
    });
    expect((await get()).status).toBe(500);
    await vi.waitFor(() => expect(outcomes).toHaveLength(1), patiently);
    expect([{}, { status: 500 }]).toContainEqual(outcomes[0]);
    log.mockRestore();
  });

  it("gives back what does not count: only failures use up a login's limit", async () => {
    let status = 200;
    const { gate, outcomes } = watched(
      createGate(
        still({ rules: [{ name: "login", by: "ip", limits: ["2 per minute"], count: "failures" }] }),
      ),
    );
    const { get } = await serving({ gate }, () => ({ status, body: "" }));
    async function settled(): Promise<number> {
      const before = outcomes.length;
      const told = await get();
      await vi.waitFor(() => expect(outcomes).toHaveLength(before + 1), patiently);
      return told.status;
    }
    for (let i = 0; i < 5; i++) expect(await settled()).toBe(200);
    status = 401;
    expect([await settled(), await settled(), await settled()]).toEqual([401, 401, 429]);
  });

  it("lets go of a delayed request whose client has left", async () => {
    const app = vi.fn(hello);
    const { gate, outcomes } = watched(
      createGate({
        rules: [{ name: "slow", by: "ip", limits: ["1 per minute"], action: "delay", maxDelay: "2m" }],
      }),
    );
    const { url, get } = await serving({ gate }, app);
    await get();
    await vi.waitFor(() => expect(outcomes).toEqual([{ status: 200 }]), patiently);
    const sent = open(url, {}).end();
    sent.on("error", () => {});
    await vi.waitFor(() => expect(gate.metrics().waiting).toBe(1), { timeout: 5000 });
    sent.destroy();
    await vi.waitFor(() => expect(outcomes).toEqual([{ status: 200 }, {}]), { timeout: 5000 });
    expect(gate.metrics().waiting).toBe(0);
    expect(app).toHaveBeenCalledTimes(1);
  });
}
