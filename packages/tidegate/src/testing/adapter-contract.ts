import { finishing } from "./adapter/finishing.js";
import { lettingIn } from "./adapter/letting-in.js";
import { misuse } from "./adapter/misuse.js";
import { refusing } from "./adapter/refusing.js";
import { type AdapterContractOptions, stageFor } from "./adapter/stage.js";
import { whatIsAskedFor } from "./adapter/what-is-asked-for.js";
import { whoIsTheClient } from "./adapter/who-is-the-client.js";

export type { App, AppAnswer } from "./adapter/app.js";
export type { AdapterContractOptions };

/** The rest of this entry point serves any test runner: only the contract needs vitest. */
const vitest = await import("vitest").catch(() => undefined);

/** What every adapter promises. Run it with vitest on an adapter of your own. */
export function adapterContract(name: string, options: AdapterContractOptions): void {
  if (vitest === undefined)
    throw new Error("adapterContract runs in a vitest test file: npm install --save-dev vitest");
  const { describe } = vitest;

  describe(`${name} keeps the adapter contract`, () => {
    const stage = stageFor(vitest, options);
    describe("letting in", () => lettingIn(vitest, stage));
    describe("refusing", () => refusing(vitest, stage));
    describe("who is the client", () => whoIsTheClient(vitest, stage));
    describe("what is asked for", () => whatIsAskedFor(vitest, stage));
    describe("finishing", () => finishing(vitest, stage));
    describe("misuse", () => misuse(vitest, stage));
  });
}
