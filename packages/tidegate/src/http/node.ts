import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Decision } from "../decision.js";
import type { Gate } from "../gate.js";
import { isPromise } from "../guard.js";
import { meetManyNames } from "./many-names.js";
import { mount } from "./mount.js";
import type { MountOptions } from "./mount-options.js";
import { NodeSubject, NodeVisit } from "./node-visit.js";
import { UpgradeVisit } from "./upgrade-visit.js";
import { goOn, noted } from "./visit.js";

export type Handler = (req: IncomingMessage, res: ServerResponse) => unknown;
export type UpgradeHandler = (req: IncomingMessage, socket: Duplex, head: Buffer) => unknown;

/** A gate for node:http. */
export interface Guard {
  /** Puts the gate in front of a handler: `createServer(guard(handler))`. A handler that throws is answered 500. */
  (handler: Handler): (req: IncomingMessage, res: ServerResponse) => void;
  /** Judges one request. False: it is answered, leave it alone. */
  (req: IncomingMessage, res: ServerResponse): Promise<boolean>;
  /** The same for upgrades: `server.on("upgrade", guard.upgrade(handler))`. The request ends with its socket. */
  upgrade(handler: UpgradeHandler): (req: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** The gate that judges: listen to its events here. */
  readonly gate: Gate;
}

/** Puts a gate in front of a node:http server: `createServer(tidegate({ limit: "100 per minute" })(handler))`. */
export function tidegate(options: MountOptions<IncomingMessage>): Guard {
  const { gate, enter } = mount(options);
  meetManyNames();

  function judge(req: IncomingMessage, res: ServerResponse): boolean | Promise<boolean> {
    return enter(req, new NodeVisit(req, req, res, new NodeSubject(req, req.url)));
  }

  function wrap(handler: Handler): (req: IncomingMessage, res: ServerResponse) => void {
    return function guarded(req, res) {
      const fail = (error: unknown): void => answerFailure(res, error);
      goOn(judge(req, res), (error) => (error === undefined ? run(handler, fail, req, res) : fail(error)));
    };
  }

  function guard(handler: Handler): (req: IncomingMessage, res: ServerResponse) => void;
  function guard(req: IncomingMessage, res: ServerResponse): Promise<boolean>;
  function guard(first: Handler | IncomingMessage, res?: ServerResponse): unknown {
    return typeof first === "function" ? wrap(first) : Promise.resolve(judge(first, res as ServerResponse));
  }

  function upgrade(handler: UpgradeHandler): (req: IncomingMessage, socket: Duplex, head: Buffer) => void {
    return function guardedUpgrade(req, socket, head) {
      const fail = (error: unknown): void => {
        console.error("Tidegate: an upgrade handler threw.", error);
        socket.destroy();
      };
      goOn(enter(req, new UpgradeVisit(req, socket)), (error) =>
        error === undefined ? run(handler, fail, req, socket, head) : fail(error),
      );
    };
  }

  return Object.assign(guard, { upgrade, gate });
}

/** What the gate said of this request. */
export function decisionOf(req: IncomingMessage): Decision | undefined {
  return noted(req);
}

/** Whether a handler throws now or later. */
function run<Given extends unknown[]>(
  handler: (...given: Given) => unknown,
  fail: (error: unknown) => void,
  ...given: Given
): void {
  try {
    const done = handler(...given);
    if (isPromise(done)) done.catch(fail);
  } catch (error) {
    fail(error);
  }
}

function answerFailure(res: ServerResponse, error: unknown): void {
  console.error("Tidegate: a handler threw.", error);
  if (res.headersSent) {
    res.destroy();
    return;
  }
  // What the handler has said of a body is not true of this one.
  for (const name of res.getHeaderNames())
    if (/^(content-|transfer-encoding)/.test(name)) res.removeHeader(name);
  res.setHeader("Content-Length", "0");
  res.statusCode = 500;
  res.end();
}

export type { HeaderForm, HeaderForms } from "./headers.js";
export type { HttpOptions, Identified, MountOptions } from "./mount-options.js";
export type { OwnRefusal } from "./refusal.js";
