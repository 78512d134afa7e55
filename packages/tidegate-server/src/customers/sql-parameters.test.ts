import { expect, it } from "vitest";
import { asPlaces, parameterCount } from "./sql-parameters.js";

const statement = `UPDATE "c$9" SET tier = $2, note = 'costs $5, it''s $6' -- $7
/* $8 */ WHERE id = $1`;

it("parameters in quotes and comments are none", () => {
  expect(parameterCount(statement)).toBe(2);
  expect(parameterCount("DELETE FROM c")).toBe(0);
});

it("parameters become places, and nothing else changes", () => {
  expect(asPlaces(statement)).toBe(statement.replace("$2", "?2").replace("= $1", "= ?1"));
});
