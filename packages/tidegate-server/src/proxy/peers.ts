import type { Socket } from "node:net";
import { peerTest } from "tidegate/http";

/** Whoever holds the other end of a client's connection: the client, or a proxy before it. */
export interface Peer {
  readonly address: string;
  /** Its word on clients is believed. */
  readonly isTrusted: boolean;
  /** The address as RFC 7239 writes it in `for=`. */
  readonly node: string;
}

/** Answers the function that knows a connection's peer. Connections are kept, so it is found out once for each. */
export function peerBook(trustedProxies: readonly string[]): (socket: Socket) => Peer {
  const isTrusted = peerTest(trustedProxies);
  const book = new WeakMap<Socket, Peer>();

  function meet(socket: Socket): Peer {
    const address = plain(socket.remoteAddress ?? "");
    const peer = { address, isTrusted: isTrusted(address), node: nodeOf(address) };
    book.set(socket, peer);
    return peer;
  }

  return (socket) => book.get(socket) ?? meet(socket);
}

function plain(address: string): string {
  return /^::ffff:\d+\./i.test(address) ? address.slice(7) : address;
}

function nodeOf(address: string): string {
  if (address === "") return "unknown";
  return address.includes(":") ? `"[${address}]"` : address;
}
