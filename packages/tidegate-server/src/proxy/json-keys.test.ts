import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonKeys } from "./json-keys.js";

const blank = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const anyText = fc.string({ unit: "binary", maxLength: 8 });
/** What is mistaken for structure when strings are not heeded, and keys that come again. */
const trickyText = fc.stringMatching(/^["\\{}[\],:a]{0,6}$/);
const key = fc.oneof(anyText, trickyText, fc.constantFrom("email", "Email", "__proto__", ""));
const value = fc.oneof(fc.jsonValue(), trickyText, fc.dictionary(trickyText, trickyText));

/** A string of JSON with some of its characters escaped. */
const written = (text: string) =>
  fc.array(fc.boolean(), { minLength: text.length, maxLength: text.length }).map((isEscaped) => {
    const units = [...Array(text.length).keys()].map((i) => {
      const hex = text.charCodeAt(i).toString(16).padStart(4, "0");
      return isEscaped[i] ? `\\u${hex}` : JSON.stringify(text[i]).slice(1, -1);
    });
    return `"${units.join("")}"`;
  });

const member = fc.tuple(key, value, blank, blank, blank).chain(([name, content, before, between, after]) =>
  written(name).map((quoted) => ({
    name,
    text: `${before}${quoted}${between}:${JSON.stringify(content)}${after}`,
  })),
);

describe("the keys of a JSON object", () => {
  it("are found in order, each as often as it is written, whatever stands in keys and values", () => {
    fc.assert(
      fc.property(fc.array(member, { maxLength: 6 }), blank, (members, around) => {
        const text = `${around}{${members.map((each) => each.text).join(",")}}${around}`;
        const keys = jsonKeys(text);
        expect(keys).toEqual(members.map(({ name }) => name));
        expect(new Set(keys)).toEqual(new Set(Object.keys(JSON.parse(text))));
      }),
      { numRuns: 1000 },
    );
  });

  it("are none where the value is no object", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (content) => {
        fc.pre(typeof content !== "object" || content === null || Array.isArray(content));
        expect(jsonKeys(JSON.stringify(content))).toEqual([]);
      }),
    );
  });

  it("end with the text, even where it is no JSON", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[{}[\],:a ]{0,20}$/), (text) => {
        expect(jsonKeys(text)).toEqual([]);
      }),
    );
    expect(() => jsonKeys("{".repeat(16_384))).not.toThrow();
  });
});
