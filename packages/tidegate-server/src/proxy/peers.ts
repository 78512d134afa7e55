import type { Socket } from "node:net";
import { peerTest } from "tidegate/http";

/** Whoever holds the other end of a client's connection: the client, or a proxy before it. */
export interface Peer {
  readonly address: string;
  /** Its word on clients is believed. */
  readonly isTrusted: boolean;
  /** The address as RFC 7239 writes it in `for=`. */
  readonly node: string;
  /** What counts as one where shares are counted: the address, of IPv6 the first 64 bits. */
  readonly network: string;
  /** Where a request ended on its connection is in doubt: nothing more that comes there is passed on. */
  isDoubted: boolean;
}

/** Answers the function that knows a connection's peer. Connections are kept, so it is found out once for each. */
export function peerBook(trustedProxies: readonly string[]): (socket: Socket) => Peer {
  const isTrusted = peerTest(trustedProxies);
  const book = new WeakMap<Socket, Peer>();

  function meet(socket: Socket): Peer {
    const address = plain(socket.remoteAddress ?? "");
    const peer = {
      address,
      isTrusted: isTrusted(address),
      node: nodeOf(address),
      network: networkOf(address),
      isDoubted: false,
    };
    book.set(socket, peer);
    return peer;
  }

  return (socket) => book.get(socket) ?? meet(socket);
}

function plain(address: string): string {
  return /^::ffff:\d+\./i.test(address) ? address.slice(7) : address;
}

/** Whoever has an IPv6 address has 2^64 of them. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [left = "", right] = address.split("::");
  const first = left === "" ? [] : left.split(":");
  const last = right === undefined || right === "" ? [] : right.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => "0");
  return [...first, ...zeros, ...last].slice(0, 4).join(":");
}

/** As RFC 7239 writes it in `for=`. */
export function nodeOf(address: string): string {
  if (address === "") return "unknown";
  return address.includes(":") ? `"[${address}]"` : address;
}
