import { isIP } from "node:net";
import { isAddressKey, isDigestKey } from "../../edge.js";

/** Paths as HAProxy's configuration names them. */
export interface MapPaths {
  readonly digests: string;
  readonly addresses: string;
  readonly mode: string;
}

export function mapPaths(folder: string): MapPaths {
  return {
    digests: `${folder}/digests.map`,
    addresses: `${folder}/addresses.map`,
    mode: `${folder}/mode.map`,
  };
}

/** Whole, from the first slash: nothing in it can end a word or a command. */
export function isMapFolder(folder: string): boolean {
  return /^\/[\w.-]+(?:\/[\w.-]+)*$/.test(folder) && folder.length <= 200 && !/\/\.\.?(?:\/|$)/.test(folder);
}

/** Which map knows a client by this key; undefined if none does. */
export function mapOf(key: string): "digests" | "addresses" | undefined {
  if (isDigestKey(key)) return "digests";
  return isAddressKey(key) && isBlock(key) ? "addresses" : undefined;
}

/** HAProxy takes no address that only looks like one. */
export function isBlock(text: string): boolean {
  const [address = "", prefix = "0"] = text.split("/");
  const version = isIP(address);
  return version !== 0 && !address.includes("%") && Number(prefix) <= (version === 4 ? 32 : 128);
}
