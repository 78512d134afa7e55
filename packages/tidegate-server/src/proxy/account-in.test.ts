import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accountIn } from "./account-in.js";

const inForm = (text: string, field = "email") => accountIn(Buffer.from(text), "form", field);
const inJson = (text: string, field = "email") => accountIn(Buffer.from(text), "json", field);

describe("a body in which an app may read another name than the field's names nobody", () => {
  it.each([
    '{"email":"decoy","Email":"victim"}',
    '{"EMAIL":"victim","email":"decoy"}',
    '{"email":"victim","email":"decoy"}',
    '{"email":"same","email":"same"}',
    '{"email":"victim","\\u0065mail":"decoy"}',
    '{"email":"decoy"," email\\t":"victim"}',
    '{"email":"decoy","email\\u0000":"victim"}',
    '{"email":"decoy","email\\ud800":"victim"}',
    '{"email":"decoy","e\\u00admail":"victim"}',
    '{"email":"decoy","ｅmail":"victim"}',
    '{"a":{"x":"}"},"email":"victim","b":["]",","],"email":"decoy"}',
  ])("%s", (text) => {
    expect(inJson(text)).toBeUndefined();
  });

  it.each([
    "email=decoy&Email=victim",
    "email=decoy&+email=victim",
    "email=decoy&%20%09email=victim",
    "email=decoy&email=victim",
    "email=decoy&email%00x=victim",
    "email=decoy&email[]=victim",
    "email=decoy&email%5B0%5D=victim",
    "email=decoy;email=victim",
    "x=1;email=victim&email=decoy",
  ])("%s", (text) => {
    expect(inForm(text)).toBeUndefined();
  });

  it.each(["user.name", "user name", "user[name", "User_Name"])("%s beside user_name", (other) => {
    expect(inForm(`user_name=decoy&${new URLSearchParams({ [other]: "victim" })}`, "user_name")).toBe(
      undefined,
    );
  });
});

describe("other fields hide no name", () => {
  it("up to 256 of them", () => {
    const form = (count: number) => `email=ann${"&x=1".repeat(count - 1)}`;
    const json = (count: number) => `{"email":"ann"${',"x":1'.repeat(count - 1)}}`;
    expect([inForm(form(256)), inForm(form(257))]).toEqual(["ann", undefined]);
    expect([inJson(json(256)), inJson(json(257))]).toEqual(["ann", undefined]);
  });

  it("deeper in the body, or with names of their own", () => {
    expect(inJson('{"email":"ann","user":{"email":"bob","Email":"cy"},"list":["email","email"]}')).toBe(
      "ann",
    );
    expect(inJson('{"email":"ann","emails":"x","e-mail":"x","x":"email"}')).toBe("ann");
    expect(inForm("email=ann&email2=x&e-mail=x&x=email&user[email]=bob")).toBe("ann");
    expect(inForm("user[email]=ann&user[password]=x", "user[email]")).toBe("ann");
  });

  it("a name is looked for as the field is written", () => {
    expect(inJson('{"Email":"ann"}')).toBeUndefined();
    expect(inForm("Email=ann")).toBeUndefined();
    expect(inJson('["ann"]', "0")).toBeUndefined();
  });
});

describe("whatever stands in a body", () => {
  const key = fc.constantFrom("email", "Email", " email", "EMAIL ", "mail", "password", "x");
  const members = fc.array(fc.tuple(key, fc.constantFrom("ann", "bob", "", '"email":', "}")), {
    maxLength: 5,
  });
  const meant = (list: readonly (readonly [string, string])[]) =>
    list.filter(([name]) => name.trim().toLowerCase() === "email");

  it("a JSON object names somebody only if one key could be meant", () => {
    fc.assert(
      fc.property(members, (list) => {
        const text = `{${list.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)}}`;
        const [only, ...more] = meant(list);
        const isOne = only?.[0] === "email" && more.length === 0;
        expect(inJson(text)).toBe(isOne ? only[1] || undefined : undefined);
      }),
      { numRuns: 1000 },
    );
  });

  it("a form names somebody only if every key that could be meant has the same value", () => {
    fc.assert(
      fc.property(members, (list) => {
        const all = meant(list);
        const values = new Set(all.map(([, value]) => value));
        const isOne = values.size === 1 && all.some(([name]) => name === "email");
        expect(inForm(`${new URLSearchParams(list)}`)).toBe(isOne ? all[0]?.[1] || undefined : undefined);
      }),
      { numRuns: 1000 },
    );
  });

  it("nothing is thrown, and the largest body is read within a moment", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom("form", "json"), (body, form) => {
        expect(() => accountIn(body, form, "email")).not.toThrow();
      }),
    );
    const fill = (piece: string) => piece.repeat(16_000 / Buffer.byteLength(piece));
    const startedAt = performance.now();
    for (const piece of ["[", "é;", "[&", "\0;", " ", ";", "%00&"]) inForm(fill(piece));
    for (const piece of ['"é":0,', '"":0,', '"[":0,', '"x":[[],{}],'])
      inJson(`{${fill(piece)}"email":"ann"}`);
    inJson(`{"email":"ann","${fill("\\\\\\\\")}":${fill("[")}`);
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });
});
