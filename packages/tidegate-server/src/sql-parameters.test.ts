import { expect, it } from "vitest";
import { asPlaces, parameterCount, takesCustomer } from "./sql-parameters.js";

const statement = `UPDATE "c$9" SET tier = $2, note = 'costs $5, it''s $6' -- $7
/* $8 */ WHERE id = $1`;

it("parameters in quotes and comments are none", () => {
  expect(parameterCount(statement)).toBe(2);
  expect(parameterCount("DELETE FROM c")).toBe(0);
});

it.each([
  ["UPDATE c SET tier = $2 WHERE id = $1", true],
  ["DELETE FROM c WHERE id = $1", true],
  ["UPDATE c SET tier = 'pro'", false],
  ["UPDATE c SET tier = $2", false],
  ["UPDATE c SET tier = $2 WHERE id = '$1'", false],
  ["UPDATE c SET tier = $4 WHERE id = $1", false],
])("%s changes one customer: %s", (update, isSo) => {
  expect(takesCustomer(update)).toBe(isSo);
});

it("parameters become places, and nothing else changes", () => {
  expect(asPlaces(statement)).toBe(statement.replace("$2", "?2").replace("= $1", "= ?1"));
});
