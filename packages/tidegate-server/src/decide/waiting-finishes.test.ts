import type { Decision, Outcome } from "tidegate";
import { afterEach, describe, expect, it } from "vitest";
import { type WaitingFinishes, type WaitingOptions, waitingFinishes } from "./waiting-finishes.js";

let table: WaitingFinishes;
afterEach(() => table.close());

function open(options: WaitingOptions): { ended: string[]; decision(id: string): Decision } {
  table = waitingFinishes(options);
  const ended: string[] = [];
  const decision = (id: string) =>
    ({
      id,
      async finish(outcome?: Outcome) {
        ended.push(`${id} ${outcome?.status}`);
      },
    }) as Decision;
  return { ended, decision };
}

describe("decisions that wait for their end", () => {
  it("are ended once, with the status said first", async () => {
    const { ended, decision } = open({});
    table.add(decision("a"));
    expect(await table.finish("a", 200)).toBe(true);
    expect(await table.finish("a", 500)).toBe(true);
    expect(await table.finish("b", 200)).toBe(false);
    expect(ended).toEqual(["a 200"]);
    expect(table.size).toBe(0);
  });

  it("are at most so many: the one that waits longest is ended without a status", async () => {
    const { ended, decision } = open({ most: 3 });
    for (const id of ["a", "b", "c", "d", "e"]) table.add(decision(id));
    expect(ended).toEqual(["a undefined", "b undefined"]);
    expect(table.size).toBe(3);
    expect(await table.finish("a", 200)).toBe(false);
  });

  it("wait so long at most", async () => {
    let now = 0;
    const { ended, decision } = open({ forMs: 5, now: () => now });
    table.add(decision("a"));
    now = 3;
    table.add(decision("b"));
    now = 6;
    await expect.poll(() => ended).toEqual(["a undefined"]);
    now = 9;
    await expect.poll(() => ended).toEqual(["a undefined", "b undefined"]);
  });

  it("that were finished are remembered in bounded number", async () => {
    const { decision } = open({ most: 2 });
    for (const id of ["a", "b", "c"]) {
      table.add(decision(id));
      await table.finish(id, 200);
    }
    expect([await table.finish("a", 200), await table.finish("c", 200)]).toEqual([false, true]);
  });

  it("are all ended when the service closes, and none is kept afterwards", async () => {
    const { ended, decision } = open({});
    table.add(decision("a"));
    await table.close();
    table.add(decision("b"));
    expect(ended).toEqual(["a undefined", "b undefined"]);
    expect(table.size).toBe(0);
  });
});
