import { describe, expect, it } from "vitest";
import { ownAnswer } from "./own-answer.js";
import type { Answer, OwnRefusal } from "./refusal.js";

describe("the app's own refusal", () => {
  const usual: Answer = {
    status: 429,
    headers: [
      ["Content-Type", "application/problem+json"],
      ["Content-Length", "5"],
      ["Retry-After", "30"],
    ],
    body: "usual",
  };
  const sent = async (own: unknown) => {
    const { status, headers, body } = await ownAnswer(own as OwnRefusal, usual);
    const last = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
    return { status, type: last["content-type"], length: last["content-length"], headers: last, body };
  };

  it("replaces only what it says", async () => {
    expect(await sent({ status: 503 })).toMatchObject({ status: 503, body: usual.body });
    expect(await sent({ body: "" })).toMatchObject({ status: 429, body: "", length: "0" });
    expect(await sent({ body: null })).toMatchObject({ body: "null", type: "application/json" });
  });

  it("counts bytes, not letters", async () => {
    expect(await sent("Zu viele Anfragen – später")).toMatchObject({ length: "29" });
    expect(await sent({ body: new Uint8Array([1, 2, 3]) })).toMatchObject({ length: "3" });
  });

  it("may be a Response", async () => {
    const own = new Response("später", { status: 418, headers: { "content-type": "text/x" } });
    expect(await sent(own)).toMatchObject({ status: 418, type: "text/x", length: "7" });
  });

  it("keeps all cookies of a Response", async () => {
    const headers = new Headers([
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ]);
    expect((await sent(new Response("", { headers }))).headers["set-cookie"]).toEqual(["a=1", "b=2"]);
  });

  it("takes numbers for texts, and leaves out what is undefined", async () => {
    const { headers } = await sent({ headers: { "Retry-After": 7, "X-Own": undefined } });
    expect(headers["retry-after"]).toBe("7");
    expect(headers).not.toHaveProperty("x-own");
  });

  it("never says itself how long it is", async () => {
    const headers = { "content-length": "999", "transfer-encoding": "chunked" };
    const answer = await sent({ headers });
    expect(answer).toMatchObject({ length: "5", body: "usual" });
    expect(answer.headers).not.toHaveProperty("transfer-encoding");
  });

  it.each([204, 205, 304])("has no body with status %d", async (status) => {
    expect(await sent({ status, body: "slow" })).toEqual({
      status,
      body: "",
      headers: { "retry-after": "30" },
    });
  });

  it.each<[string, unknown]>([
    ["a status that is none", { status: 99 }],
    ["a status that ends nothing", { status: 101 }],
    ["a status in words", { status: "429" }],
    ["a failed Response", Response.error()],
    ["a line break in a header", { headers: { "X-Who": "a\r\nSet-Cookie: x=1" } }],
    ["a letter no header can have", { headers: { "X-Who": "\u2603" } }],
    ["a name no header can have", { headers: { "X Who": "a" } }],
    ["a body that is no JSON", { body: 1n }],
    ["nothing", null],
  ])("is not taken with %s", async (_, own) => {
    await expect(sent(own)).rejects.toThrow(TypeError);
  });
});
