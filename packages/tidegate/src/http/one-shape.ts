import type { IncomingMessage, ServerResponse } from "node:http";

/** In V8 from 13 on (Node 24) a changed prototype costs nothing. Bun's engine is another, whatever version it names. */
const isNeeded =
  Number.parseInt(process.versions.v8, 10) < 13 && (process.versions as { bun?: string }).bun === undefined;

/**
 * Gives the requests and responses of an Express app one shape each. Express changes their prototype, and with every
 * property they are given after that V8 makes a shape for each of them alone: whatever is asked of them then, by anybody,
 * is looked up anew, a good third of an Express app's time. An object that has lost a property keeps the others in a table
 * instead, and such objects share one shape: so each loses the one by which Express leads to the other, and gets it back.
 */
export function giveOneShape(req: IncomingMessage & { res?: ServerResponse }, res: ServerResponse): void {
  if (!isNeeded || !Object.hasOwn(req, "res") || !Object.hasOwn(res, "req")) return;
  const { res: ofReq } = req;
  const { req: ofRes } = res;
  if (ofReq !== undefined && Reflect.deleteProperty(req, "res")) req.res = ofReq;
  if (Reflect.deleteProperty(res, "req")) (res as { req: IncomingMessage }).req = ofRes;
}
