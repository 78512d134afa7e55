import { expect, it } from "vitest";
import { networkOf } from "./peers.js";

it.each([
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["2001:db8:0:0:ffff::", "2001:db8:0:0"],
  ["2001::2:3:4:5:6", "2001:0:0:2"],
  ["::1", "0:0:0:0"],
  ["::", "0:0:0:0"],
  ["", ""],
])("a client at %s is counted as %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
