import { describe, expect, it } from "vitest";
import { basicUser } from "./account.js";

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

describe("the user of basic auth", () => {
  it.each([
    [basic("joe:secret"), "joe"],
    [basic("joe:"), "joe"],
    [basic("joe:a:b"), "joe"],
    [basic("jürgen:x"), "jürgen"],
    ["bAsIc am9lOnB3", "joe"],
    ["Basic   am9lOnB3", "joe"],
    [basic("__proto__:x"), "__proto__"],
  ])("is read from %j", (header, expected) => {
    expect(basicUser(header)).toBe(expected);
  });

  it.each([
    undefined,
    "",
    "Basic",
    "Basic ",
    "Basic !!!",
    "Basic \u0000\u0000",
    basic("nocolon"),
    basic(":nouser"),
    "Bearer am9lOnB3",
    "Basicam9lOnB3",
  ])("is nobody in %j", (header) => {
    expect(basicUser(header)).toBeUndefined();
  });

  const urlSafe = Buffer.from("a?>\u00bf~:pw").toString("base64url");

  it.each([urlSafe, "am9lOnB3", "am9lOnB3=", "am9!lOnB3", "am9l OnB3", "am9lOnB", "am9lOnB3==garbage"])(
    "is the same as a server that reads %j loosely finds",
    (base64) => {
      const loosely = Buffer.from(base64, "base64").toString().split(":")[0];
      expect(basicUser(`Basic ${base64}`)).toBe(loosely);
    },
  );

  it("of bytes that are no text is its own, never another's", () => {
    const of = (...bytes: number[]) => basicUser(`Basic ${Buffer.from([...bytes, 58]).toString("base64")}`);
    expect(of(0xff)).not.toBe(of(0xfe));
    expect(of(0xff)).toBeDefined();
  });

  it("is found in a header of any length", () => {
    expect(basicUser(basic(`joe:${"x".repeat(1_000_000)}`))).toBe("joe");
    expect(basicUser(`Basic am9l${"!".repeat(1_000_000)}OnB3`)).toBe("joe");
  });
});
