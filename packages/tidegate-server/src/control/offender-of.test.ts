import { subjectOf } from "tidegate/testing";
import { expect, test } from "vitest";
import { offenderOf } from "./offender-of.js";

const event = { rule: "flood", key: "203.0.113.7", until: 9_000, subject: subjectOf("203.0.113.7") };

test("a client held by the policy becomes an offender for the edges its rule names", () => {
  expect(offenderOf(event, ["cdn"], () => 5_000)).toMatchObject({
    key: "203.0.113.7",
    rule: "flood",
    crossedAt: 5_000,
    until: 9_000,
    score: 1,
    leaked: 0,
    edges: ["cdn"],
    about: { ip: "203.0.113.7" },
  });
});

test("keys that no edge can know give none: what a client wrote never goes there", () => {
  for (const key of ["eva", "42|/login", "", '"; del map', "203.0.113.7\n", "A".repeat(64)])
    expect(offenderOf({ ...event, key }, [])).toBeUndefined();
});

test("facts are short, without the query, and hostile ones do no harm", () => {
  const headers = { "user-agent": "\0\n'".repeat(200) };
  const subject = subjectOf("nobody's address", { path: `/a?token=hush`, host: "h".repeat(999), headers });
  const about = offenderOf({ ...event, subject }, [])?.about;
  expect(about).toMatchObject({ path: "/a", host: "h".repeat(200) });
  expect(about?.userAgent).toHaveLength(200);
  expect(about?.ip).toBeUndefined();
});
