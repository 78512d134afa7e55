import { expect, it } from "vitest";
import { authorityOf, pathOf } from "./target.js";

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

it.each([
  ["/", undefined],
  ["/a?b=http://c", undefined],
  ["http://host/a", "host"],
  ["HTTP://host:1?x", "host:1"],
  ["https://u:p@host/a", "host"],
  ["http://[::1]:80", "[::1]:80"],
  ["*", undefined],
  ["host:443", undefined],
  [undefined, undefined],
])("the host of %j is %j", (target, expected) => {
  expect(authorityOf(target)).toBe(expected);
});
