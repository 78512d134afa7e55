import { type Directory, memoryDirectory } from "tidegate";
import { expect, it } from "vitest";
import type { CustomerSource } from "./customer-source.js";
import { type PullOptions, pull } from "./pull.js";

function sourceOf(...pages: unknown[][]): CustomerSource {
  return {
    kind: "sql",
    async *rows() {
      yield* pages;
    },
    write: async () => {},
    close: async () => {},
  };
}

const usual = {
  before: new Set<string>(),
  unsettled: async () => new Set<string>(),
  hasTier: () => true,
  signal: new AbortController().signal,
};

function into(directory: Directory): Pick<PullOptions, "directory" | "putAll"> {
  return {
    directory,
    async putAll(records) {
      for (const [id, record] of records) await directory.putCustomer(id, record);
    },
  };
}

it("only what differs is written", async () => {
  const directory = memoryDirectory();
  const source = sourceOf([{ id: "a", tier: "pro", limits: { 60: 1 } }], [{ id: "b", tier: "free" }]);
  expect(await pull({ ...usual, ...into(directory), source })).toMatchObject({ changed: 2 });
  expect(await pull({ ...usual, ...into(directory), source })).toMatchObject({ changed: 0 });
  await directory.putCustomer("b", { tier: "other" });
  expect(await pull({ ...usual, ...into(directory), source })).toMatchObject({ changed: 1 });
});

it("those with a change under way are left alone, and so are those that go", async () => {
  const directory = memoryDirectory();
  for (const id of ["a", "gone"]) await directory.putCustomer(id, { tier: "here" });
  const unsettled = async () => new Set(["a", "gone"]);
  const source = sourceOf([{ id: "a", tier: "there" }, { id: "b" }]);
  await pull({ ...usual, ...into(directory), source, unsettled, before: new Set(["a", "gone"]) });
  expect(directory.customer("a")).toEqual({ tier: "here" });
  expect(directory.customer("gone")).toEqual({ tier: "here" });
});

it("whoever has a senseless row is not taken for gone, and the first of two rows counts", async () => {
  const directory = memoryDirectory();
  for (const id of ["a", "b", "7"]) await directory.putCustomer(id, { tier: "pro" });
  const source = sourceOf([
    { id: "a", tier: 7 },
    { id: 7, tier: "no tier\n" },
    { id: "b", tier: "free" },
    { id: "b", tier: "pro" },
  ]);
  const pulled = await pull({ ...usual, ...into(directory), source, before: new Set(["a", "b", "7"]) });
  expect(pulled).toMatchObject({ rejected: 3, removed: 0 });
  expect(directory.customer("a")).toEqual({ tier: "pro" });
  expect(directory.customer("7")).toEqual({ tier: "pro" });
  expect(directory.customer("b")).toEqual({ tier: "free" });
});

it("a hundred thousand are pulled with turns for others in between", async () => {
  const directory = memoryDirectory();
  const rows = Array.from({ length: 100_000 }, (_, id) => ({ id, tier: "pro" }));
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const { ids } = await pull({ ...usual, ...into(directory), source: sourceOf(rows) });
  isOver = true;
  expect(ids.size).toBe(100_000);
  expect(turns).toBeGreaterThan(1000);
});

it("a pull that is told to stop stops", async () => {
  const stopping = new AbortController();
  const directory = { ...memoryDirectory(), putCustomer: () => stopping.abort() };
  const source = sourceOf(Array.from({ length: 100 }, (_, id) => ({ id, tier: "pro" })));
  await expect(pull({ ...usual, ...into(directory), source, signal: stopping.signal })).rejects.toThrow(
    "aborted",
  );
});
