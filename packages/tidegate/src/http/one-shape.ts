import type { IncomingMessage, ServerResponse } from "node:http";

const { v8 = "", bun }: { v8?: string; bun?: string } = globalThis.process?.versions ?? {};
/** From V8 13 on (Node 24) a changed prototype costs nothing. Bun's engine is another, whatever version it names. */
const isNeeded = Number.parseInt(v8, 10) < 13 && bun === undefined;

/**
 * Gives the requests and responses of an Express app one shape each. Express changes their prototype, and with every
 * property they are given after that V8 makes a shape for each of them alone: whatever is asked of them then, by anybody,
 * is looked up anew, a good third of an Express app's time. An object that has lost a property keeps the others in a table
 * instead, and such objects share one shape: so each loses the one by which Express leads to the other, and gets it back.
 */
export function giveOneShape(req: IncomingMessage, res: ServerResponse): void {
  if (!isNeeded) return;
  const ofReq = Object.getOwnPropertyDescriptor(req, "res");
  const ofRes = Object.getOwnPropertyDescriptor(res, "req");
  if (!isPlain(ofReq) || !isPlain(ofRes)) return;
  renew(req, "res", ofReq?.value);
  renew(res, "req", ofRes?.value);
}

/** As Express sets it. Whatever else somebody has made of it stays as it is. */
function isPlain(property: PropertyDescriptor | undefined): boolean {
  return property?.writable === true && property.enumerable === true && property.configurable === true;
}

function renew(object: object, name: string, value: unknown): void {
  if (Reflect.deleteProperty(object, name)) (object as Record<string, unknown>)[name] = value;
}
