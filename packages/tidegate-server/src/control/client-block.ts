import { canonicalBlock } from "tidegate/http";
import { memo } from "./memo.js";

/** Whose address it is: of IPv4 the address, of IPv6 the /64, of which one client has as many addresses as it likes. */
export function clientBlock(address: string): string {
  return address.includes(":") ? blockOf64(address) : address;
}

/** Whose neighbours: a /24, of IPv6 a /48. */
export function networkBlock(address: string): string {
  if (address.includes(":")) return blockOf48(address);
  return address.slice(0, address.lastIndexOf("."));
}

const blockOf64 = memo((address) => widened(address, 64));
const blockOf48 = memo((address) => widened(address, 48));

/** What is wider already, or no address, stays. */
function widened(address: string, prefix: number): string {
  const block = canonicalBlock(address);
  if (!block?.includes(":")) return block ?? address;
  const [first, length = "128"] = block.split("/");
  return Number(length) <= prefix ? block : (canonicalBlock(`${first}/${prefix}`) ?? block);
}
