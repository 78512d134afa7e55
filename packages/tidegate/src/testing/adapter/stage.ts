import type { Decision } from "../../decision.js";
import type { Gate, GateOptions } from "../../gate.js";
import type { MountOptions } from "../../http/mount-options.js";
import { memoryStore } from "../../index.js";
import type { Store } from "../../store.js";
import type { Outcome } from "../../subject.js";
import { type Asked, ask, type Told } from "../ask.js";
import { virtualClock } from "../virtual-clock.js";
import { type App, hello } from "./app.js";

export type Vitest = typeof import("vitest");

export interface AdapterContractOptions {
  /** Serves the app for every method and path on 127.0.0.1, behind these mounts, outermost first. */
  serve(mounts: readonly MountOptions<unknown>[], app: App): Promise<{ url: string; close(): Promise<void> }>;
  /** A header of what the framework hands to `identify`. */
  headerOf(request: unknown, name: string): string | undefined;
  /** The framework's router takes `/LOGIN` for `/login`. Default false. */
  readonly ignoresCase?: boolean;
}

/** Where the contract's chapters play: the adapter, and gates whose time stands still. */
export interface Stage extends AdapterContractOptions {
  /** Serves the app, and answers how to ask it. */
  serving(
    mounts: MountOptions<unknown> | readonly MountOptions<unknown>[],
    app?: App,
  ): Promise<{ url: string; get: (asked?: Asked) => Promise<Told> }>;
  still(options: Omit<GateOptions, "store">): GateOptions;
  twoPerMinute(): { limit: "2 per minute"; store: Store };
}

/** What is served is closed after each test. */
export function stageFor({ afterEach }: Vitest, options: AdapterContractOptions): Stage {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });
  const stillStore = () => memoryStore({ clock: virtualClock(start) });
  return {
    ...options,
    async serving(mounts, app = hello) {
      const { url, close } = await options.serve(Array.isArray(mounts) ? mounts : [mounts], app);
      closers.push(close);
      return { url, get: (asked) => ask(url, asked) };
    },
    still: (gate) => ({ ...gate, store: stillStore() }),
    twoPerMinute: () => ({ limit: "2 per minute", store: stillStore() }),
  };
}

/** 20 seconds into a minute: 40 are left of it. */
export const start = 1_700_000_000_000;

/** For a machine that has much else to do. */
export const patiently = { timeout: 15_000 };

export const loosest: GateOptions = { rules: [{ name: "all", by: "ip", limits: ["1000 per minute"] }] };

export function limitHeadersOf({ headers }: Told): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => /ratelimit/.test(name)));
}

/** A gate that notes how its decisions are finished. */
export function watched(gate: Gate): { gate: Gate; outcomes: Outcome[] } {
  const outcomes: Outcome[] = [];
  async function decide(...asked: Parameters<Gate["decide"]>): Promise<Decision> {
    const decision = await gate.decide(...asked);
    return {
      ...decision,
      finish(outcome = {}) {
        outcomes.push(outcome);
        return decision.finish(outcome);
      },
    };
  }
  return { gate: { ...gate, decide }, outcomes };
}
