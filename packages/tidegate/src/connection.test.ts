import { describe, expect, it } from "vitest";
import { connectionOf } from "./connection.js";

function asked(answer: (ip: string) => string) {
  const ips: string[] = [];
  const tell = (ip: string) => {
    ips.push(ip);
    return answer(ip);
  };
  return { ips, tell };
}

describe("a connection", () => {
  it("is one for one socket, and another for another", () => {
    const socket = {};
    expect(connectionOf(socket)).toBe(connectionOf(socket));
    expect(connectionOf({})).not.toBe(connectionOf(socket));
  });

  it("is a new one each time for what takes no note", () => {
    for (const socket of [Object.freeze({}), new Proxy({}, { set: () => false })])
      expect(connectionOf(socket).told("10.0.0.1", (ip) => ip)).toBe("10.0.0.1");
  });

  it("has an address told once as long as it stays the same", () => {
    const { ips, tell } = asked((ip) => `client ${ip}`);
    const connection = connectionOf({});
    for (const ip of ["10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.1"])
      expect(connection.told(ip, tell)).toBe(`client ${ip}`);
    expect(ips).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.1"]);
  });

  it("has each gate tell for itself", () => {
    const [one, other] = [asked((ip) => `one ${ip}`), asked((ip) => `other ${ip}`)];
    const connection = connectionOf({});
    expect(connection.told("10.0.0.1", one.tell)).toBe("one 10.0.0.1");
    expect(connection.told("10.0.0.1", other.tell)).toBe("other 10.0.0.1");
    expect(connection.told("10.0.0.1", one.tell)).toBe("one 10.0.0.1");
  });

  it("does not know the empty address before it was asked", () => {
    expect(connectionOf({}).told("", () => "nobody")).toBe("nobody");
  });
});
