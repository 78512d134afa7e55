import type { IncomingMessage, ServerResponse } from "node:http";
import type { Decision } from "../decision.js";
import type { Gate } from "../gate.js";
import { mount } from "./mount.js";
import type { MountOptions } from "./mount-options.js";
import { NodeSubject, NodeVisit } from "./node-visit.js";
import { giveOneShape } from "./one-shape.js";
import { goOn, noted } from "./visit.js";

/** What Express 4 and 5 and Connect take. */
export interface Middleware<Request> {
  (req: Request, res: ServerResponse, next: (error?: unknown) => void): void;
  /** The gate that judges: listen to its events here. */
  readonly gate: Gate;
}

/** Puts a gate in front of an Express or Connect app: `app.use(tidegate({ limit: "100 per minute" }))`. */
export function tidegate<Request extends IncomingMessage = IncomingMessage>(
  options: MountOptions<Request>,
): Middleware<Request> {
  const { gate, enter } = mount(options);

  function tidegateMiddleware(req: Request, res: ServerResponse, next: (error?: unknown) => void): void {
    giveOneShape(req, res);
    const { originalUrl = req.url } = req as { originalUrl?: string };
    const visit = new NodeVisit(req, req, res, new NodeSubject(req, originalUrl));
    visit.subject.ignoresCase = ignoresCase(req);
    goOn(enter(req, visit), next);
  }

  return Object.assign(tidegateMiddleware, { gate });
}

/** Connect's and Express's routers do, unless Express is told otherwise. */
function ignoresCase(req: IncomingMessage & { app?: { enabled?(setting: string): boolean } }): boolean {
  return req.app?.enabled?.("case sensitive routing") !== true;
}

/** What the gate said of this request. */
export function decisionOf(req: IncomingMessage): Decision | undefined {
  return noted(req);
}

export type { HeaderForm, HeaderForms } from "./headers.js";
export type { HttpOptions, Identified, MountOptions } from "./mount-options.js";
export type { OwnRefusal } from "./refusal.js";
