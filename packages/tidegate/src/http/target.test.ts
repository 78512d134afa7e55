import { expect, it } from "vitest";
import { pathOf } from "./target.js";

it.each([
  ["/", "/"],
  ["/a?b=http://c", "/a?b=http://c"],
  ["//a", "//a"],
  ["http://host/a?b", "/a?b"],
  ["https://u:p@host:1/a", "/a"],
  ["http://host", "/"],
  ["http://host?x", "/?x"],
  ["http://host#x", "/"],
  ["http://host//a", "//a"],
  ["/a#b?c", "/a"],
  ["*", "*"],
  ["host:443", "host:443"],
  ["", ""],
])("the path of %j is %j", (target, expected) => {
  expect(pathOf(target)).toBe(expected);
});
