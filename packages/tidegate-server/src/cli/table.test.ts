import { expect, it } from "vitest";
import { table } from "./table.js";

it("columns are aligned, numbers to the right, and what is missing is a dash", () => {
  const rows = [
    { name: "世界", count: 5, why: "a\nb" },
    { name: "b", count: 12345, why: undefined },
  ];
  expect(
    table(
      [
        { title: "NAME", of: ({ name }) => name },
        { title: "COUNT", of: ({ count }) => count, isNumber: true },
        { title: "WHY", of: ({ why }) => why },
      ],
      rows,
    ),
  ).toBe("NAME  COUNT  WHY\n世界      5  a\\u000ab\nb     12345  -\n");
});
