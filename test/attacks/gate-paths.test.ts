import type { Decision } from "tidegate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requestFor, sendRaw } from "./gate-raw.js";
import { type Routed, routers } from "./gate-routers.js";

const route = "/api/v1";

const spellings = [
  "/api/v1",
  "/api/v1/",
  "/api/v1?",
  "/api/v1??x",
  "/api/v1?/../..",
  "/api/v1#",
  "/api/v1#x?y",
  "/api//v1",
  "//api/v1",
  "///api/v1",
  "/api/v1//",
  "/./api/v1",
  "/api/./v1",
  "/api/v1/.",
  "/api/x/../v1",
  "/x/../api/v1",
  "/../api/v1",
  "/api/v1/x/..",
  "/x//../api/v1",
  "/%61pi/v1",
  "/%61%70%69/%76%31",
  "/%2e/api/v1",
  "/x/%2e%2e/api/v1",
  "/x/%2E./api/v1",
  "/api%2fv1",
  "/api%2Fv1",
  "/x%2f..%2fapi/v1",
  "/x/..%2fapi/v1",
  "/api\\v1",
  "/api%5cv1",
  "/x\\..\\api\\v1",
  "\\api\\v1",
  "/api/v1%00",
  "/a%00pi/v1",
  "/api/v1%00.png",
  "/api/v1;x",
  "/api;x=1/v1",
  "/x/..;/api/v1",
  "/api/v1%3f",
  "/api/v1%23",
  "/api/v1%20",
  "/api/v1%0a",
  "/api/v1%",
  "/api/v1%zz",
  "/%2561pi/v1",
  "/%c1%a1pi/v1",
  "/%ef%bd%81pi/v1",
  "http://localhost/api/v1",
  "http://elsewhere/api/v1",
  "HTTP://user@elsewhere:80/api/v1",
  "a://b/api/v1",
  "http://elsewhere//api/v1",
  "http://elsewhere/x/../api/v1",
  "http://elsewhere\\api\\v1",
  "http://elsewhere?/api/v1",
  "http:///api/v1",
  "//elsewhere/api/v1",
  "///elsewhere/api/v1",
  "//user@elsewhere:80/api/v1",
  "//elsewhere\\api\\v1",
  "/\\elsewhere/api/v1",
  "/\\\\elsewhere/api/v1",
  "//elsewhere/x/../api/v1",
  "/%2felsewhere/api/v1",
  "/.//elsewhere/api/v1",
  "*",
  "#/api/v1",
];

/** Every byte, in every place where it might be dropped or taken for something else. */
const oddBytes = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).flatMap((byte) => [
  `/api/v1${byte}`,
  `/api/v1${byte}${byte}`,
  `/api/v1${byte}#`,
  `/${byte}api/v1`,
  `/api${byte}/v1`,
  `/ap${byte}i/v1`,
  `/api${byte}v1`,
  `${byte}/api/v1`,
]);

/** All of them pass through what is excepted, or seem to. */
const detours = [
  "/api/v1",
  "/public/../api/v1",
  "/public/%2e%2e/api/v1",
  "/public/..%2fapi/v1",
  "/public%2f..%2fapi/v1",
  "/public/..\\api\\v1",
  "/public\\..\\api\\v1",
  "/public/..;/api/v1",
  "/public;/../api/v1",
  "/public%00/../api/v1",
  "/public//../../api/v1",
  "//public/api/v1",
  "///public/api/v1",
  "/\\public/api/v1",
  "//public\\api/v1",
  "http://public/api/v1",
  "http://x/public/../api/v1",
  "http://x//public/../api/v1",
  "/api/v1?/public",
  "/api/v1#/public",
  "/api/v1/../../public/../api/v1",
  "/api/v1%00/../../public",
  "/api/v1;/../../public",
  "/api/v1%3f/../../public",
];

/** Those of the targets that reached the handler though the rule was not asked, and how many reached it. */
async function visit({ port }: Routed, reached: (Decision | undefined)[], targets: readonly string[]) {
  const escapes: string[] = [];
  let arrived = 0;
  for (const target of targets) {
    reached.length = 0;
    await sendRaw(port, requestFor(target));
    arrived += reached.length;
    if (reached.some((decision) => decision?.reason !== "within-limits")) escapes.push(target);
  }
  return { escapes, arrived };
}

describe.each(Object.entries(routers))("%s", (_, serve) => {
  const reached: (Decision | undefined)[] = [];
  const note = (decision: Decision | undefined) => reached.push(decision);
  let named: Routed;
  let unexcepted: Routed;

  beforeAll(async () => {
    named = await serve(route, { only: route }, note);
    unexcepted = await serve(route, { except: "/public" }, note);
  });
  afterAll(async () => {
    await named.close();
    await unexcepted.close();
  });

  it.each([
    ["however it is written", spellings],
    ["whatever byte stands in whatever odd place", oddBytes],
  ])("a request that reaches a handler does not escape the rule about it, %s", async (_, targets) => {
    const { escapes, arrived } = await visit(named, reached, targets);
    expect(escapes).toEqual([]);
    expect(arrived).toBeGreaterThan(2);
  });

  it("a request that reaches a handler which is not excepted is not excepted by a detour", async () => {
    const { escapes, arrived } = await visit(unexcepted, reached, detours);
    expect(escapes).toEqual([]);
    expect(arrived).toBeGreaterThan(1);
  });
});
