import { describe, expect, it } from "vitest";
import { firstLists } from "./first-lists.js";

describe("the lists at a start", () => {
  it("are waited for, but no longer than told", async () => {
    const lists = firstLists();
    await lists.settled(5);
    expect(lists.isLoading).toBe(true);
    await lists.settled(-1);
    lists.loaded();
    expect(lists.isLoading).toBe(false);
  });

  it("that can not be read are not waited for", async () => {
    const lists = firstLists();
    setTimeout(lists.unreachable, 5);
    await lists.settled(60_000);
    expect(lists.isLoading).toBe(false);
  });
});
