import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setFlagsFromString } from "node:v8";
import connect from "connect";
import express from "express";
import express4 from "express4";
import { tidegate } from "tidegate/express";
import { describe, expect, it } from "vitest";
import { ask } from "../../packages/tidegate/src/testing/ask.js";
import { listening } from "./serving.js";

type App = (req: IncomingMessage, res: ServerResponse) => void;
type Guard = ReturnType<typeof tidegate>;
type Pair = readonly [request: object, response: object];

setFlagsFromString("--allow-natives-syntax");
const haveOneShape = new Function("a", "b", "return %HaveSameMap(a, b)") as (a: object, b: object) => boolean;
const isTable = new Function("a", "return !%HasFastProperties(a)") as (a: object) => boolean;

/** Three requests with their responses, as the app behind the gate sees them. */
async function seenBy(makeApp: (guard: Guard, answer: App) => App): Promise<Pair[]> {
  const seen: Pair[] = [];
  const note = (req: IncomingMessage, res: ServerResponse): void => {
    seen.push([req, res]);
    res.end();
  };
  const guard = tidegate({ limit: "100 per minute" });
  const { url, close } = await listening(createServer(makeApp(guard, note)));
  for (let i = 0; i < 3; i++) await ask(url);
  await close();
  return seen;
}

const apps = {
  "Express 5": (guard: Guard, answer: App): App => express().use(guard).use(answer),
  "Express 4": (guard: Guard, answer: App): App => express4().use(guard).use(answer),
};

describe("an app behind the gate", () => {
  for (const [name, makeApp] of Object.entries(apps)) {
    // V8 keeps tables' shapes in a book of 64 places, and chance says whose each is: of a few apps one may have lost its own.
    it(`${name}: its requests have one shape, and so have its responses`, async () => {
      const apps: Pair[][] = [];
      for (let i = 0; i < 7; i++) apps.push(await seenBy(makeApp));
      const withOneShape = apps.filter(([first, ...others]) =>
        others.every(([request, response]) => {
          const [firstRequest, firstResponse] = first as Pair;
          return haveOneShape(request, firstRequest) && haveOneShape(response, firstResponse);
        }),
      );
      expect(withOneShape.length).toBeGreaterThan(3);
    });

    it(`${name}: a request leads to its response and back, as ever`, async () => {
      for (const [request, response] of await seenBy(makeApp)) {
        expect(Object.getOwnPropertyDescriptor(request, "res")).toMatchObject({
          value: response,
          enumerable: true,
        });
        expect(Object.getOwnPropertyDescriptor(response, "req")).toMatchObject({
          value: request,
          enumerable: true,
        });
      }
    });
  }

  it("what somebody has made of these two is left alone", async () => {
    const kinds: ((req: object) => void)[] = [
      (req) => Object.defineProperty(req, "res", { enumerable: false }),
      (req) => Object.defineProperty(req, "res", { get: () => "mine" }),
    ];
    for (const change of kinds) {
      const before: unknown[] = [];
      const note = (req: object): void => {
        change(req);
        before.push(Object.getOwnPropertyDescriptors(req));
      };
      const [[request]] = (await seenBy((guard, answer) => {
        const app = express();
        app.use((req, _, next) => {
          note(req);
          next();
        });
        return app.use(guard).use(answer);
      })) as [Pair];
      const { res } = before[0] as PropertyDescriptorMap;
      expect(Object.getOwnPropertyDescriptor(request, "res")).toEqual(res);
    }
  });

  it("Connect: nothing is changed, since nothing is slow", async () => {
    const seen = await seenBy((guard, answer) => connect().use(guard).use(answer));
    for (const [request, response] of seen)
      expect([isTable(request), isTable(response)]).toEqual([false, false]);
  });
});
